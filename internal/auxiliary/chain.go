package auxiliary

import (
	"context"
	"errors"

	"hermes"
)

// chain returns the models for a task in the order in which they are tried: the
// one configured for it, the session's own, the task's and the conversation's
// fallbacks, and the last resort. For pictures the session's own is tried only if
// it accepts them.
func (r *Client) chain(task, main string, t Task) []Choice {
	var list []Choice
	seen := map[string]bool{}
	add := func(choices ...Choice) {
		for _, c := range choices {
			if key := c.Provider + "\x00" + c.Model + "\x00" + c.BaseURL; !seen[key] {
				seen[key] = true
				list = append(list, c)
			}
		}
	}
	own := Choice{Model: main}
	if t.set() {
		first := t.Choice
		if first.auto() {
			first.Provider = ""
		}
		add(first)
	} else {
		own.Extra = t.Extra
	}
	if task != Vision || r.cfg.Sees == nil || r.cfg.Sees(main) {
		add(own)
	}
	add(t.Fallback...)
	add(r.cfg.Fallback...)
	last := r.cfg.Text
	if task == Vision {
		last = r.cfg.Vision
	}
	if last != nil {
		add(last()...)
	}
	return list
}

// set reports whether a model was chosen for the task.
func (t Task) set() bool { return t.Model != "" || t.BaseURL != "" || !t.auto() || t.Fault != nil }

// auto reports whether no provider was named.
func (c Choice) auto() bool { return c.Provider == "" || c.Provider == "auto" }

// Ref returns the reference of a choice without its own address.
func (c Choice) Ref() string {
	if c.auto() {
		return c.Model
	}
	return c.Provider + ":" + c.Model
}

// passes reports whether another model may succeed after one failed with err.
// Spend caps and the end of the caller's time affect all of them.
func passes(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok {
		return true // it could not be reached, or it timed out
	}
	return e.Class != hermes.ClassBudget && (e.Fallback || e.Rotate || e.Retry)
}
