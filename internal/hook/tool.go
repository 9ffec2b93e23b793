package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/settle"
)

// BeforeTool calls the hooks of that name. canonical returns arguments in the one form
// that is judged and run, or why they cannot be: each hook gets what the one before
// wrote, in this form. A hook that has agreed to other arguments than those in the end sees the call
// again, unless it is no guard and has changed the call itself: what only rewrites does so once. If they
// do not settle after a few rounds the call is refused. The result is the call with
// these arguments and with why the user has to be asked, or an answer that ends it.
func (h *Hooks) BeforeTool(ctx context.Context, c *hermes.Call, canonical func(json.RawMessage) (json.RawMessage, error)) (*hermes.Call, *hermes.Result) {
	var judges []settle.Judge
	var answer *hermes.Result
	for _, k := range h.all() {
		if k.BeforeTool != nil {
			judges = append(judges, settle.Judge{Name: k.Name, Guard: k.Guard, Show: func() (ends bool) {
				c, answer = h.beforeTool(ctx, k, c, canonical)
				return answer != nil
			}})
		}
	}
	if _, err := settle.Settle(func() string { return string(c.Arguments) }, judges); err != nil {
		return c, refused(fmt.Errorf("not run: %w", err))
	}
	return c, answer
}

// beforeTool shows one hook a call, and returns it as the hook lets it run.
func (h *Hooks) beforeTool(ctx context.Context, k hermes.Hook, c *hermes.Call, canonical func(json.RawMessage) (json.RawMessage, error)) (*hermes.Call, *hermes.Result) {
	type before struct {
		answer *hermes.Result
		err    error
	}
	theirs := own(c)
	did, broken := call(ctx, h, k, "call", func(ctx context.Context) before {
		r, err := k.BeforeTool(ctx, theirs)
		return before{r, err}
	})
	if err := refusal(k, did.err, broken); err != nil {
		return c, refused(err)
	}
	if did.answer != nil {
		return c, did.answer
	}
	if broken != nil {
		return c, nil
	}
	changed := *c
	if changed.Asks = theirs.Asks; string(theirs.Arguments) == string(c.Arguments) {
		return &changed, nil
	}
	arguments, err := canonical(theirs.Arguments)
	if err != nil {
		return c, refused(fmt.Errorf("not run: the hook %s made the call invalid: %w", k.Name, err))
	}
	changed.Arguments = arguments
	return &changed, nil
}

// BeforeAsk calls the hooks of that name. A result refuses the call, whatever it says.
func (h *Hooks) BeforeAsk(ctx context.Context, c *hermes.Call, a hermes.ApprovalRequest) *hermes.Result {
	for _, k := range h.all() {
		if k.BeforeAsk == nil {
			continue
		}
		answer, broken := call(ctx, h, k, "approval", func(ctx context.Context) *hermes.Result { return k.BeforeAsk(ctx, own(c), a) })
		if err := refusal(k, nil, broken); err != nil {
			return refused(err)
		}
		if answer != nil {
			answer.Failed = true
			return answer
		}
	}
	return nil
}

// BeforeRun calls the hooks of that name. A result ends the call.
func (h *Hooks) BeforeRun(ctx context.Context, c *hermes.Call) *hermes.Result {
	for _, k := range h.all() {
		if k.BeforeRun == nil {
			continue
		}
		if err := h.ask(ctx, k, "run", func(ctx context.Context) error { return k.BeforeRun(ctx, own(c)) }); err != nil {
			return refused(err)
		}
	}
	return nil
}

// AfterTool calls the hooks of that name and returns the result as they changed it.
// accept says what of a change counts.
func (h *Hooks) AfterTool(ctx context.Context, c *hermes.Call, r hermes.Result, accept func(was, now hermes.Result) hermes.Result) hermes.Result {
	for _, k := range h.all() {
		if k.AfterTool == nil {
			continue
		}
		now, broken := call(context.WithoutCancel(ctx), h, k, "result", func(ctx context.Context) hermes.Result {
			theirs := r
			k.AfterTool(ctx, own(c), &theirs)
			return theirs
		})
		if broken == nil {
			r = accept(r, now)
		}
	}
	return r
}

// own returns a hook's own copy of a call: a hook that runs on after its timeout must
// not change the call that is about to run.
func own(c *hermes.Call) *hermes.Call {
	theirs := *c
	theirs.Arguments = slices.Clone(c.Arguments)
	return &theirs
}

// refused returns the result of a call that a hook refused.
func refused(err error) *hermes.Result {
	text := err.Error()
	if _, ok := errors.AsType[guardFailed](err); ok {
		text += "; tell the user, and do not try to reach the same goal another way"
	}
	r := hermes.ErrorResult(text)
	return &r
}
