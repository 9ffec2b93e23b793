package toolbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"hermes"
)

// hookTimeout limits a hook's function that sets no timeout.
const hookTimeout = 30 * time.Second

var errHookTime = errors.New("it took too long")

// hook shows hooks a call before it runs and its result afterwards. A function
// that panics or takes too long is logged and skipped; if the hook is a guard,
// the call is refused.
func (b *Toolbox) hook(m member, next runner) runner {
	if !slices.ContainsFunc(b.hooks, func(h hermes.Hook) bool { return h.BeforeTool != nil || h.AfterTool != nil }) {
		return next
	}
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		c, answer := b.before(ctx, m, c)
		if answer != nil {
			return *answer
		}
		return b.after(ctx, c, next(ctx, c))
	}
}

// before asks the hooks in order. A result ends the call.
func (b *Toolbox) before(ctx context.Context, m member, c *hermes.Call) (*hermes.Call, *hermes.Result) {
	for _, h := range b.hooks {
		if h.BeforeTool == nil {
			continue
		}
		// The hook gets its own copy: a hook that runs on after its timeout must
		// not change the call that is about to run.
		theirs := *c
		theirs.Arguments = slices.Clone(c.Arguments)
		var answer *hermes.Result
		var refused error
		broken := b.within(ctx, h, func(ctx context.Context) func() {
			r, err := h.BeforeTool(ctx, &theirs)
			return func() { answer, refused = r, err }
		})
		if broken != nil {
			b.log.Warn("hook failed before a call", "hook", h.Name, "tool", c.Name, "err", broken)
			if !h.Guard {
				continue
			}
			r := hermes.ErrorResult(fmt.Sprintf("not run: the guard %s could not check this call (%v); tell the user, and do not try to reach the same goal another way", h.Name, broken))
			return c, &r
		}
		if refused != nil {
			r := hermes.ErrorResult(refused.Error())
			return c, &r
		}
		if answer != nil {
			r := *answer
			r.Text, r.Shown = b.clean(r.Text), b.clean(r.Shown)
			return c, &r
		}
		var problem string
		if c, problem = rewritten(m, c, &theirs); problem != "" {
			r := hermes.ErrorResult(fmt.Sprintf("not run: the hook %s made the call invalid: %s", h.Name, problem))
			return c, &r
		}
	}
	return c, nil
}

// rewritten returns the call with the arguments that a hook changed.
func rewritten(m member, c, theirs *hermes.Call) (*hermes.Call, string) {
	if string(theirs.Arguments) == string(c.Arguments) {
		return c, ""
	}
	arguments, problem := fitted(m, theirs.Arguments)
	if problem != "" {
		return c, problem
	}
	changed := *c
	changed.Arguments = arguments
	return &changed, ""
}

// after lets the hooks change a result.
func (b *Toolbox) after(ctx context.Context, c *hermes.Call, r hermes.Result) hermes.Result {
	for _, h := range b.hooks {
		if h.AfterTool == nil {
			continue
		}
		theirs := r
		var changed *hermes.Result
		broken := b.within(context.WithoutCancel(ctx), h, func(ctx context.Context) func() {
			h.AfterTool(ctx, c, &theirs)
			return func() { changed = &theirs }
		})
		if broken != nil {
			b.log.Warn("hook failed after a call", "hook", h.Name, "tool", c.Name, "err", broken)
			continue
		}
		if changed.Text != r.Text || changed.Shown != r.Shown {
			changed.Text, changed.Shown = b.clean(changed.Text), b.clean(changed.Shown)
		}
		added := hermes.WithoutSources(changed.Provenance, r.Provenance)
		changed.Provenance = hermes.AddProvenance(r.Provenance, b.chosenNotes(c, added)) // more, never less
		r = *changed
	}
	return r
}

// within runs a hook's function and applies its outcome (the func it returns),
// unless it panics or its time runs out. Nothing waits for a function that
// ignores its context; its outcome is dropped.
func (b *Toolbox) within(ctx context.Context, h hermes.Hook, f func(context.Context) func()) error {
	limit := h.Timeout
	if limit <= 0 {
		limit = hookTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errHookTime)
	defer cancel()
	type outcome struct {
		take func()
		err  error
	}
	done := make(chan outcome, 1)
	go func() { // ends with the function; the channel holds its outcome
		defer func() {
			if p := recover(); p != nil {
				b.log.Error("hook panicked", "hook", h.Name, "panic", p, "stack", string(debug.Stack()))
				done <- outcome{err: fmt.Errorf("it panicked: %v", p)}
			}
		}()
		done <- outcome{take: f(ctx)}
	}()
	select {
	case o := <-done:
		if o.err != nil {
			return o.err
		}
		o.take()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
