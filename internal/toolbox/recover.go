package toolbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"hermes"
)

const interrupted = "interrupted: the person stopped the turn while this ran; what it has done so far is not known"

// contain keeps a tool's panic from the rest of the program, and does not
// begin a call whose turn has ended.
func (b *Toolbox) contain(m member, next runner) runner {
	return func(ctx context.Context, c *hermes.Call) (r hermes.Result) {
		if ctx.Err() != nil {
			return failure("interrupted: the turn was stopped before this ran")
		}
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			b.log.Error("tool panicked", "tool", c.Name, "call", c.ID, "panic", p, "stack", string(debug.Stack()))
			r = failure(fmt.Sprintf("%s broke down on this call (an error in the program, which is in its log); do not repeat the call unchanged, try another way", c.Name))
		}()
		return next(ctx, c)
	}
}

// core runs the tool itself and turns its error into text for the model. What
// a failed or stopped call has given so far is kept.
func (b *Toolbox) core(m member) runner {
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := m.tool.Run(ctx, c)
		r.Text = strings.ToValidUTF8(r.Text, "\ufffd")
		if err == nil {
			return r
		}
		why := strings.ToValidUTF8(err.Error(), "\ufffd")
		if stopped(ctx, err) {
			why = interrupted
		}
		told := failure(why)
		if r.Text != "" {
			told.Text = r.Text + "\n" + told.Text
		}
		r.Text, r.Failed = told.Text, true
		return r
	}
}

// stopped says that a call failed because its turn was stopped.
func stopped(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	return errors.Is(err, hermes.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}
