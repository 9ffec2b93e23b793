package script

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/settle"
)

// occasion is a call as hooks see it.
func occasion(c *hermes.Call) Occasion {
	o := Occasion{Call: c}
	if c.Host == nil {
		return o
	}
	o.Session = c.Host.Session()
	if env := c.Host.Environment(); env != nil {
		files := env.Files()
		o.Resolve = func(path string) string {
			if full, err := files.Resolve(path); err == nil {
				return full
			}
			return path
		}
	}
	return o
}

// beforeTool has hooks look at a call, one after another. The first one that refuses ends it; one that asks has the
// user asked; what they change is judged afterwards, as if the model had written it. A hook that has agreed to other
// arguments than those in the end sees the call again, unless it is no guard and has changed the call itself: one
// that puts a wrapper around commands does that once.
func (s *Session) beforeTool(ctx context.Context, c *hermes.Call) (*hermes.Result, error) {
	o := occasion(c)
	s.announce(beforeTool, o)
	var judges []settle.Judge
	var refusal *hermes.Result
	var last done // for whom a call is refused that does not settle
	for _, r := range s.runners {
		if r.set.Trusted != nil && !r.set.Trusted() {
			continue // see each
		}
		for _, h := range r.set.Entries {
			if h.event.at != beforeTool {
				continue
			}
			views := func() []asked {
				return slices.DeleteFunc(o.views(h.event), func(view asked) bool { return !o.concerns(r, h, view) })
			}
			judges = append(judges, settle.Judge{
				Name: h.short(), Guard: h.FailClosed, Concerned: func() bool { return len(views()) > 0 },
				Show: func() (ends bool) {
					last = done{provenance: s.source(r, h)}
					for _, view := range views() {
						if refusal = judge(s.show(ctx, r, h, o, view), c); refusal != nil {
							return true
						}
					}
					return false
				},
			})
		}
	}
	if _, err := settle.Settle(func() string { return string(c.Arguments) }, judges); err != nil {
		return refused(last, "not run: "+err.Error(), ""), nil
	}
	return refusal, nil
}

// beforeAsk has hooks look at a call about which the user is about to be asked, one after another. The first one that refuses
// is the last. None can allow the call.
func (s *Session) beforeAsk(ctx context.Context, c *hermes.Call, _ hermes.ApprovalRequest) *hermes.Result {
	o := occasion(c)
	o.Extra = map[string]any{"permission_suggestions": []any{}}
	for _, d := range s.each(ctx, beforeAsk, o) {
		if d.Verdict.Allows {
			s.once(o, fmt.Sprintf("The hook %q of %s allows a call. That has no effect: only you allow calls.", d.Entry.short(), d.Entry.Event))
		}
		if refusal := judge(d, c); refusal != nil {
			return refusal
		}
	}
	return nil
}

// judge applies to a call what a hook said before it; a result refuses the call.
func judge(d done, c *hermes.Call) *hermes.Result {
	v := d.Verdict
	switch {
	case v.Failed != nil && d.Entry.FailClosed:
		return refused(d, "not run: the hook "+d.Entry.short()+", which must agree, failed ("+v.Failed.Error()+"); tell the user, and do not try to reach the same goal another way", "")
	case v.Failed != nil:
		return nil
	case v.Ends != "":
		return refused(d, "not run: a hook stopped the turn: "+v.Ends, v.Ends)
	case v.Blocks:
		return refused(d, "not run: a hook refused this call: "+v.Reason, "")
	}
	if d.event.at == beforeAsk {
		return nil
	}
	if len(v.Arguments) > 0 {
		changed, err := Occasion{Call: c}.changed(d)
		if err != nil { // it must not run as the hook saw it
			return refused(d, "not run: "+err.Error(), "")
		}
		c.Arguments = changed
	}
	if !v.Asks {
		return nil
	}
	reason := v.Reason
	if reason == "" {
		reason = "a hook wants you to decide"
	}
	if c.Asks == "" {
		c.Asks = reason
	} else if !slices.Contains(strings.Split(c.Asks, "; "), reason) { // one that sees the call again asks again
		c.Asks += "; " + reason
	}
	return nil
}

// refused is the result of a call that a hook refused.
func refused(d done, text, stop string) *hermes.Result {
	r := hermes.ErrorResult(text)
	r.Provenance, r.StopReason = d.provenance, stop
	return &r
}

// afterTool shows hooks the result of a call. They may add to it, and in Hermes' form replace it.
func (s *Session) afterTool(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	o := occasion(c)
	o.Result = r
	failed := r.Failed
	all := s.each(ctx, afterTool, o, func(e event) bool {
		return e.name == "PostToolUse" && failed || e.name == "PostToolUseFailure" && !failed
	})
	all = slices.DeleteFunc(all, func(d done) bool { return d.Verdict.Failed != nil })
	for _, d := range all {
		if v := d.Verdict; v.Result != nil && (strings.HasPrefix(d.event.name, "transform_") || d.event.claude) {
			r.Text = *v.Result
			r.Provenance = hermes.AddProvenance(r.Provenance, d.provenance)
		}
	}
	for _, d := range all {
		v := d.Verdict
		text := v.Context
		if v.Blocks {
			text = strings.TrimSpace(v.Reason + "\n" + text)
		}
		if text != "" {
			r.Text += "\n\n[From a hook of " + d.Entry.Event + ": " + text + "]"
			r.Provenance = hermes.AddProvenance(r.Provenance, d.provenance)
		}
		if v.Ends != "" && r.StopReason == "" {
			r.StopReason = "a hook stopped the turn: " + v.Ends
		}
	}
}
