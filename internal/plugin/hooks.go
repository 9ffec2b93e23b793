package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// maxContext bounds what a plugin adds to a message, in bytes.
const maxContext = 16 << 10

// longest is how long the hooks of all plugins may take at one event: each has a time of its own,
// and one may wait for the user.
const longest = time.Hour

// Hook returns the hooks of all plugins as one, which calls the plugins in the order of their
// names: each sees what the ones before changed.
func (s *Plugins) Hook() hermes.Hook {
	h := hermes.Hook{Name: "plugins", Timeout: longest, Guard: true}
	on := func(event string) bool { return len(s.at(event, "")) > 0 }
	if on(EventSessionStart) {
		h.SessionStart = func(ctx context.Context, r hermes.SessionRef) error {
			return s.refusal(ctx, EventSessionStart, hookCall{Session: session(r)})
		}
	}
	if on(EventSessionEnd) {
		h.SessionEnd = func(ctx context.Context, r hermes.SessionRef) {
			s.tell(ctx, EventSessionEnd, hookCall{Session: session(r)})
		}
	}
	if on(EventTurnStart) {
		h.TurnStart = s.turnStart
	}
	if on(EventTurnEnd) {
		h.TurnEnd = func(ctx context.Context, r hermes.SessionRef, _ hermes.Outcome, turn []hermes.Message) string {
			s.tell(ctx, EventTurnEnd, hookCall{Session: session(r), Text: lastText(turn)})
			return ""
		}
	}
	if on(EventBeforeTool) {
		h.BeforeTool = s.beforeTool
	}
	if on(EventAfterTool) || on(EventToolResult) {
		h.AfterTool = s.afterTool
	}
	if on(EventChildStart) {
		h.ChildStart = func(ctx context.Context, r hermes.SessionRef, t hermes.Task) error {
			return s.refusal(ctx, EventChildStart, hookCall{Session: session(r), Text: t.Goal})
		}
	}
	if on(EventChildEnd) {
		h.ChildEnd = func(ctx context.Context, r hermes.SessionRef, report hermes.Report) {
			s.tell(ctx, EventChildEnd, hookCall{Session: session(r), Text: report.Summary})
		}
	}
	return h
}

// lastText is the last text of the model in a turn.
func lastText(turn []hermes.Message) string {
	for i := len(turn) - 1; i >= 0; i-- {
		if turn[i].Role == hermes.RoleAssistant {
			return turn[i].Text()
		}
	}
	return ""
}

// at is a hook of a plugin.
type at struct {
	*Plugin
	Hook
}

// at lists the hooks at an event, in order. tool is that of the call; "" is every tool.
func (s *Plugins) at(event, tool string) []at {
	var list []at
	for _, p := range s.list {
		for _, h := range p.pin.Offer.Hooks {
			if h.Event != event {
				continue
			}
			if m, err := h.matcher(); err == nil && (tool == "" || m.MatchString(tool)) {
				list = append(list, at{p, h})
			}
		}
	}
	return list
}

// call calls the hook. It returns an error only if the hook is a guard: others are logged.
func (a at) call(ctx context.Context, host hermes.Host, in hookCall) (v verdict, err error) {
	most := time.Duration(cmp.Or(a.Timeout, 30)) * time.Second
	in.Event = a.Event
	err = a.Plugin.call(ctx, methodHook, host, most, func(id string) any {
		in.Call = id
		return in
	}, &v)
	if err == nil {
		switch v.Action {
		case "", "block", "approve", "modify":
		default:
			err = fmt.Errorf("the plugin %s answers with the action %q, which is not known", a.Name(), text.OneLine(plain(v.Action), 40))
		}
	}
	if err == nil {
		return v, nil
	}
	if a.Guard {
		return verdict{}, fmt.Errorf("refused, since a guard failed: %w", err)
	}
	if ctx.Err() == nil {
		a.cfg.Log.Warn("a hook of a plugin failed", slog.String("plugin", a.Name()), slog.String("event", a.Event), slog.Any("err", err))
	}
	return verdict{}, nil
}

// blocked is the error for a verdict that refuses.
func (a at) blocked(v verdict) error {
	return fmt.Errorf("the plugin %s refuses it: %s", a.Name(), cmp.Or(text.Cut(strings.TrimSpace(plain(v.Message)), 2000), "it gives no reason"))
}

// refusal calls the hooks at an event that can refuse, and returns the first refusal.
func (s *Plugins) refusal(ctx context.Context, event string, in hookCall) error {
	for _, a := range s.at(event, "") {
		v, err := a.call(ctx, nil, in)
		if err != nil {
			return err
		}
		if v.Action == "block" {
			return a.blocked(v)
		}
	}
	return nil
}

// tell calls the hooks at an event that refuse nothing.
func (s *Plugins) tell(ctx context.Context, event string, in hookCall) {
	for _, a := range s.at(event, "") {
		_, _ = a.call(ctx, nil, in) // logged
	}
}

// turnStart returns what plugins add to a message. It is untrusted text, and marked so.
func (s *Plugins) turnStart(ctx context.Context, r hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
	var parts []hermes.Part
	for _, a := range s.at(EventTurnStart, "") {
		v, err := a.call(ctx, nil, hookCall{Session: session(r), Text: m.Text()})
		if err != nil {
			return nil, err
		}
		if v.Action == "block" {
			return nil, a.blocked(v)
		}
		if added := strings.TrimSpace(plain(v.Context)); added != "" {
			parts = append(parts, hermes.Part{Text: fmt.Sprintf("[From the plugin %s, not from the user]\n%s", a.Name(), text.Cut(added, maxContext)), Provenance: hermes.ProvenanceSource("plugin", a.Name())})
		}
	}
	return parts, nil
}

// beforeTool has plugins look at a call. One that blocks ends it; else, if one wants approval, the
// user is asked about the call as it is after all changes.
func (s *Plugins) beforeTool(ctx context.Context, c *hermes.Call) (*hermes.Result, error) {
	var reasons []string
	for _, a := range s.at(EventBeforeTool, c.Name) {
		v, err := a.call(ctx, c.Host, hookCall{Session: session(c.Host.Session()), Tool: &hookTool{c.ID, c.Name, c.Arguments}})
		if err != nil {
			return nil, err
		}
		switch v.Action {
		case "block":
			return nil, a.blocked(v)
		case "approve":
			if !a.manifest.Capabilities.Approvals {
				return nil, fmt.Errorf("refused: the plugin %s wants the user to be asked, but does not declare approvals", a.Name())
			}
			reasons = append(reasons, fmt.Sprintf("the plugin %s wants you to look at it: %s", a.Name(), cmp.Or(text.OneLine(plain(v.Message), 500), "it gives no reason")))
		case "modify":
			var object map[string]json.RawMessage
			if json.Unmarshal(v.Arguments, &object) != nil || object == nil {
				if a.Guard {
					return nil, fmt.Errorf("refused, since a guard failed: the plugin %s changes the arguments to what is no object", a.Name())
				}
				a.cfg.Log.Warn("a hook of a plugin changes the arguments to what is no object", slog.String("plugin", a.Name()))
				continue
			}
			c.Arguments = v.Arguments
		}
	}
	if len(reasons) == 0 {
		return nil, nil
	}
	return nil, approve(ctx, c, reasons)
}

// approve asks the user about a call, whatever the mode: a plugin that the user enabled wants it.
func approve(ctx context.Context, c *hermes.Call, reasons []string) error {
	r := hermes.ApprovalRequest{CallID: c.ID, Tool: c.Name, Subject: text.Visible(string(c.Arguments))}
	for _, reason := range reasons {
		r.Risks = append(r.Risks, hermes.Risk{Key: "plugin-hook", Reason: reason, NoRemember: true, Once: true})
	}
	a, err := c.Host.Approve(ctx, r)
	if err != nil {
		return fmt.Errorf("refused: %s, and the user cannot be asked: %w", strings.Join(reasons, "; "), err)
	}
	if !a.Allowed() {
		return errors.New(strings.TrimSpace("the user refused it. " + a.Reason))
	}
	return nil
}

// afterTool shows plugins a result, which some may change.
func (s *Plugins) afterTool(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	call := func(a at) verdict {
		v, _ := a.call(ctx, nil, hookCall{ // logged
			Session: session(c.Host.Session()), Tool: &hookTool{c.ID, c.Name, c.Arguments}, Result: &hookResult{r.Text, r.Failed},
		})
		return v
	}
	for _, a := range s.at(EventToolResult, c.Name) {
		if v := call(a); v.Action == "modify" && v.Text != nil {
			r.Text = text.Cut(plain(*v.Text), maxText)
			r.Provenance = hermes.AddProvenance(r.Provenance, hermes.ProvenanceSource("plugin", a.Name()))
		}
	}
	for _, a := range s.at(EventAfterTool, c.Name) {
		call(a)
	}
}
