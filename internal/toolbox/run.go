package toolbox

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"hermes"
)

const interrupted = "interrupted: the user stopped the turn while this call ran; its outcome is unknown"

// recoverPanic turns a panic of a tool, or of a layer below, into a result.
func (b *Toolbox) recoverPanic(next runner) runner {
	return func(ctx context.Context, c *call) (r hermes.Result) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			b.o.Log.Error("tool panicked", "tool", c.Name, "call", c.ID, "panic", p, "stack", string(debug.Stack()))
			b.recordCrash(ctx, c, p)
			r = hermes.ErrorResult(fmt.Sprintf("%s crashed on this call (a program error, which is logged); do not repeat the call unchanged, try another way", c.Name))
		}()
		return next(ctx, c)
	}
}

// core runs the tool itself and turns its error into text for the model. It
// keeps the partial output of a failed or stopped call.
func (b *Toolbox) core(ctx context.Context, c *call) hermes.Result {
	c.ran = true
	r, err := c.Tool.Run(ctx, c.Call)
	r.Text = strings.ToValidUTF8(r.Text, "\ufffd")
	if err == nil {
		return r
	}
	why := strings.ToValidUTF8(err.Error(), "\ufffd")
	if stopped(ctx, err) {
		why = interrupted
	}
	failed := hermes.ErrorResult(why)
	if r.Text != "" {
		failed.Text = r.Text + "\n" + failed.Text
	}
	r.Text, r.Failed = failed.Text, true
	return r
}

// stopped reports whether a call failed because its turn was stopped.
func stopped(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	return errors.Is(err, hermes.ErrInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))
}

// redact masks secrets in a tool's result before anything else sees it, so that
// results are stored, shown and sent without them.
func (b *Toolbox) redact(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		r := next(ctx, c)
		r.Text = b.o.Redact(r.Text)
		r.Shown = b.o.Redact(r.Shown)
		return r
	}
}
