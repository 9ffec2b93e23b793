package auxiliary

import (
	"context"
	"errors"

	"hermes"
)

// chain is the order in which models are asked for a task: the one that is
// set for it, the session's own, the task's and the conversation's fallbacks,
// and what else there is. For pictures the session's own is asked only if it
// takes them.
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
func (t Task) set() bool { return t.Model != "" || t.BaseURL != "" || !t.auto() }

// auto reports whether no provider was named.
func (c Choice) auto() bool { return c.Provider == "" || c.Provider == "auto" }

// Ref is the reference of a choice without an address of its own.
func (c Choice) Ref() string {
	if c.auto() {
		return c.Model
	}
	return c.Provider + ":" + c.Model
}

// passes reports whether another model may succeed where one failed with err.
// Our own caps and the end of the caller's time hold for all of them.
func passes(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok {
		return true // it could not be reached, or its time was up
	}
	return e.Class != hermes.ClassBudget && (e.Fallback || e.Rotate || e.Retry)
}
