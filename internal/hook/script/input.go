package script

import (
	"encoding/json"
	"maps"

	"hermes"
)

// Occasion is one event as it happens.
type Occasion struct {
	Event   string
	Session hermes.SessionRef
	// Call is set for events about a tool, and Result for those after it.
	Call   *hermes.Call
	Result *hermes.Result
	// About is what a matcher is compared with, for events that are about no tool.
	About string
	// Extra are the other facts: names and values of JSON.
	Extra map[string]any
	// Resolve returns the absolute path of a file that a call names; nil leaves paths as they are.
	Resolve func(path string) string
}

// asked is an occasion as one script sees it. A call that changes several files is more than one for
// scripts of Claude Code.
type asked struct {
	tool  string
	input map[string]any
	// fixed says why the arguments cannot be changed; "" if they can.
	fixed string
}

// views returns how scripts see an occasion.
func (o Occasion) views(e event) []asked {
	if o.Call == nil {
		return []asked{{}}
	}
	var args map[string]any
	_ = json.Unmarshal(o.Call.Arguments, &args) // they are an object
	if !e.claude {
		return []asked{{tool: o.Call.Name, input: args}}
	}
	return claudeViews(o.Call.Name, args, o.Resolve)
}

// input is what a script reads: JSON in one line.
func (o Occasion) input(e event, view asked, profile string) ([]byte, error) {
	in := map[string]any{"hook_event_name": o.Event, "session_id": o.Session.ID, "cwd": o.Session.Dir}
	if view.tool != "" {
		in["tool_name"], in["tool_input"] = view.tool, view.input
	}
	if e.claude {
		o.claudeInput(in, view)
		return json.Marshal(in)
	}
	extra := maps.Clone(o.Extra)
	if extra == nil {
		extra = map[string]any{}
	}
	if o.Call != nil {
		extra["tool_call_id"] = o.Call.ID
	}
	if o.Result != nil {
		extra["result"], extra["failed"] = o.Result.Text, o.Result.Failed
	}
	extra["platform"], extra["model"], extra["turn"] = o.Session.Platform, o.Session.Model, o.Session.Turn
	in["profile"], in["extra"] = profile, extra
	return json.Marshal(in)
}
