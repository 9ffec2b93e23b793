package script

import (
	"encoding/json"
	"maps"

	"hermes"
	"hermes/internal/text"
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
	Extra      map[string]any
	transcript string // the file of the conversation; "" if it was not written
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

// The kinds of notifications, in the words of Claude Code.
const (
	permissionPrompt  = "permission_prompt"
	elicitationDialog = "elicitation_dialog"
	idlePrompt        = "idle_prompt"
)

// notificationKinds lists them.
var notificationKinds = [...]string{permissionPrompt, elicitationDialog, idlePrompt}

// questionOccasion is an occasion of some events of a point.
type questionOccasion struct {
	Occasion
	skip func(event) bool
}

// questionOccasions are what scripts in either form are told when the user is asked something. The text of an
// answer is never part of it.
func questionOccasions(ref hermes.SessionRef, a hermes.Asked) []questionOccasion {
	note := questionOccasion{notification(ref, a), func(e event) bool { return !e.claude }}
	if a.Approval == nil {
		return []questionOccasion{note}
	}
	return []questionOccasion{note, {approvalOccasion(ref, a), func(e event) bool { return e.claude }}}
}

// notification is a question or an approval in the form of Claude Code.
func notification(ref hermes.SessionRef, a hermes.Asked) Occasion {
	kind, title, message := elicitationDialog, "Question", ""
	if a.Question != nil {
		message = "Hermes has a question: " + text.OneLine(a.Question.Text, 400)
	}
	if a.Approval != nil {
		kind, title = permissionPrompt, "Permission needed"
		message = "Hermes needs your permission to use " + claudeName(a.Approval.Tool, nil).name
	}
	return notice(ref, kind, title, message)
}

// idleNotice says in the form of Claude Code that a session waits for the user.
func idleNotice(ref hermes.SessionRef) Occasion {
	return notice(ref, idlePrompt, "Waiting for you", "Hermes is waiting for your input")
}

func notice(ref hermes.SessionRef, kind, title, message string) Occasion {
	return Occasion{Session: ref, About: kind, Extra: map[string]any{"notification_type": kind, "title": title, "message": message}}
}

// approvalOccasion is an approval in Hermes' form.
func approvalOccasion(ref hermes.SessionRef, a hermes.Asked) Occasion {
	reasons := []string{}
	for _, r := range a.Approval.Risks {
		reasons = append(reasons, r.Reason)
	}
	return Occasion{Session: ref, About: a.Approval.Tool, Extra: map[string]any{
		"id": a.ID, "tool_name": a.Approval.Tool, "tool_call_id": a.Approval.CallID, "subject": a.Approval.Subject, "reasons": reasons,
	}}
}
