package plugin

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"hermes"
	"hermes/internal/text"
)

// maxContext bounds what a plugin adds to a message, in bytes.
const maxContext = 16 << 10

// slack is how much longer than its own time a hook may take before it counts as hanging.
const slack = 5 * time.Second

// Hooks returns the hooks of all plugins, each as one of its own, in the order in which they are
// called: that of the names of the plugins, and those that only look at a result after those that
// change it.
func (s *Plugins) Hooks() []hermes.Hook {
	var list, look []hermes.Hook
	for _, p := range s.list {
		for _, h := range p.pin.Offer.Hooks {
			m, err := h.matcher()
			if err != nil {
				continue // it was checked when it was enabled
			}
			a := at{p, h, m}
			if h.Event == EventAfterTool {
				look = append(look, a.hook())
			} else {
				list = append(list, a.hook())
			}
		}
	}
	return append(list, look...)
}

// at is a hook of a plugin.
type at struct {
	*Plugin
	Hook
	tools *regexp.Regexp
}

// most is how long the plugin may take.
func (a at) most() time.Duration { return time.Duration(cmp.Or(a.Timeout, 30)) * time.Second }

// hook makes the hook one of the program.
func (a at) hook() hermes.Hook {
	h := hermes.Hook{Name: "of the plugin " + a.Name(), Timeout: a.most() + slack, Guard: a.Guard}
	switch a.Event {
	case EventSessionStart:
		h.SessionStart = func(ctx context.Context, r hermes.SessionRef) error {
			return a.refusal(ctx, hookCall{Session: session(r)})
		}
	case EventSessionEnd:
		h.SessionEnd = func(ctx context.Context, r hermes.SessionRef) { a.tell(ctx, hookCall{Session: session(r)}) }
	case EventTurnStart:
		h.TurnStart = a.turnStart
	case EventTurnEnd:
		h.TurnEnd = func(ctx context.Context, r hermes.SessionRef, _ hermes.Outcome, turn []hermes.Message) string {
			a.tell(ctx, hookCall{Session: session(r), Text: lastText(turn)})
			return ""
		}
	case EventBeforeTool:
		h.BeforeTool = a.beforeTool
	case EventToolResult:
		h.AfterTool = a.change
	case EventAfterTool:
		h.AfterTool = func(ctx context.Context, c *hermes.Call, r *hermes.Result) {
			if a.tools.MatchString(c.Name) {
				a.tell(ctx, looking(c, r))
			}
		}
	case EventChildStart:
		h.ChildStart = func(ctx context.Context, r hermes.SessionRef, t hermes.Task) error {
			return a.refusal(ctx, hookCall{Session: session(r), Text: t.Goal})
		}
	case EventChildEnd:
		h.ChildEnd = func(ctx context.Context, r hermes.SessionRef, report hermes.Report) {
			a.tell(ctx, hookCall{Session: session(r), Text: report.Text()})
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

// call calls the hook. It returns an error only if the hook is a guard: others are logged.
func (a at) call(ctx context.Context, host hermes.Host, in hookCall) (v verdict, err error) {
	in.Event = a.Event
	err = a.Plugin.call(ctx, methodHook, host, a.most(), func(id string) any {
		in.Call = id
		return in
	}, &v)
	if err == nil {
		switch v.Action {
		case "", "block", "approve", "modify":
		default:
			err = fmt.Errorf("the plugin %s answers with the action %q, which is not known", a.Name(), text.OneLine(text.Plain(v.Action), 40))
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
	return fmt.Errorf("the plugin %s refuses it: %s", a.Name(), cmp.Or(text.Cut(strings.TrimSpace(text.Plain(v.Message)), 2000), "it gives no reason"))
}

// refused is the result of a call that did not run. Its text may be the plugin's, also where a guard
// failed, and is marked so.
func (a at) refused(why error) *hermes.Result {
	r := hermes.ErrorResult(why.Error())
	r.Provenance = hermes.ProvenanceSource("plugin", a.Name())
	return &r
}

// refusal calls the hook at an event that can refuse.
func (a at) refusal(ctx context.Context, in hookCall) error {
	v, err := a.call(ctx, nil, in)
	if err == nil && v.Action == "block" {
		err = a.blocked(v)
	}
	return err
}

// tell calls the hook at an event that refuses nothing.
func (a at) tell(ctx context.Context, in hookCall) {
	_, _ = a.call(ctx, nil, in) // logged
}

// turnStart returns what the plugin adds to a message. It is untrusted text, and marked so.
func (a at) turnStart(ctx context.Context, r hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
	v, err := a.call(ctx, nil, hookCall{Session: session(r), Text: m.Text()})
	if err != nil {
		return nil, err
	}
	if v.Action == "block" {
		return nil, a.blocked(v)
	}
	added := strings.TrimSpace(text.Plain(v.Context))
	if added == "" {
		return nil, nil
	}
	return []hermes.Part{{
		Text:       fmt.Sprintf("[From the plugin %s, not from the user]\n%s", a.Name(), text.Cut(added, maxContext)),
		Provenance: hermes.ProvenanceSource("plugin", a.Name()),
	}}, nil
}

// beforeTool has the plugin look at a call, which it may refuse, change, or have the user asked
// about.
func (a at) beforeTool(ctx context.Context, c *hermes.Call) (*hermes.Result, error) {
	if !a.tools.MatchString(c.Name) {
		return nil, nil
	}
	v, err := a.call(ctx, c.Host, hookCall{Session: session(c.Host.Session()), Tool: &hookTool{c.ID, c.Name, c.Arguments}})
	if err != nil {
		return a.refused(err), nil
	}
	switch v.Action {
	case "block":
		return a.refused(a.blocked(v)), nil
	case "modify":
		c.Arguments = v.Arguments
	case "approve":
		if !a.manifest.Capabilities.Approvals {
			return nil, fmt.Errorf("refused: the plugin %s wants the user to be asked, but does not declare approvals", a.Name())
		}
		why := fmt.Sprintf("the plugin %s wants you to look at it: %s", a.Name(), cmp.Or(text.OneLine(text.Plain(v.Message), 500), "it gives no reason"))
		c.Asks = strings.TrimPrefix(c.Asks+"; "+why, "; ")
	}
	return nil, nil
}

// looking is a call that has run, with its result.
func looking(c *hermes.Call, r *hermes.Result) hookCall {
	return hookCall{Session: session(c.Host.Session()), Tool: &hookTool{c.ID, c.Name, c.Arguments}, Result: &hookResult{r.Text, r.Failed}}
}

// change shows the plugin a result, which it may change.
func (a at) change(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	if !a.tools.MatchString(c.Name) {
		return
	}
	v, _ := a.call(ctx, nil, looking(c, r)) // logged
	if v.Action == "modify" && v.Text != nil {
		r.Text = text.Cut(text.Plain(*v.Text), maxText)
		r.Provenance = hermes.AddProvenance(r.Provenance, hermes.ProvenanceSource("plugin", a.Name()))
	}
}
