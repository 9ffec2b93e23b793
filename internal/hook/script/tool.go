package script

import (
	"context"
	"slices"
	"strings"

	"hermes"
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

// beforeTool has hooks look at a call. One that refuses ends it; else one that asks has the user asked; what
// they change is judged afterwards, as if the model had written it.
func (s *Session) beforeTool(ctx context.Context, c *hermes.Call) (*hermes.Result, error) {
	var asks []string
	var refusal *hermes.Result
	o := occasion(c)
	for _, d := range s.each(ctx, beforeTool, o) {
		v := d.Verdict
		switch {
		case v.Failed != nil && d.Entry.FailClosed:
			return refused(d, "not run: the hook "+d.Entry.Line()+", which must agree, failed ("+v.Failed.Error()+"); tell the user, and do not try to reach the same goal another way", ""), nil
		case v.Failed != nil:
			continue
		case v.Ends != "":
			return refused(d, "not run: a hook stopped the turn: "+v.Ends, v.Ends), nil
		case v.Blocks:
			return refused(d, "not run: a hook refused this call: "+v.Reason, ""), nil
		}
		if len(v.Arguments) > 0 {
			changed, err := Occasion{Call: c}.changed(d)
			if err != nil { // it must not run as the hook saw it
				return refused(d, "not run: "+err.Error(), ""), nil
			}
			c.Arguments = changed
		}
		if v.Asks {
			reason := v.Reason
			if reason == "" {
				reason = "a hook wants you to decide"
			}
			asks = append(asks, reason)
		}
	}
	if len(asks) > 0 {
		c.Asks = strings.Join(append(asks, c.Asks), "; ")
		c.Asks = strings.TrimSuffix(c.Asks, "; ")
	}
	return refusal, nil
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
