package toolbox

import (
	"context"
	"fmt"

	"hermes"
)

// journal stores a call with an effect before it runs, and its result as soon as it is
// known, if its host keeps a journal. A call that cannot be stored does not run: after a
// crash nothing would tell of it.
func (b *Toolbox) journal(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		j, ok := c.Host.(hermes.CallJournal)
		if !ok || c.Spec.EffectOf(c.Arguments) == hermes.EffectNone {
			return next(ctx, c)
		}
		stored := hermes.ToolCall{ID: c.ID, Name: c.Name, Arguments: string(c.Arguments)}
		if err := j.BeginCall(ctx, stored); err != nil {
			return hermes.ErrorResult(fmt.Sprintf("not run: the call could not be recorded (%v)", err))
		}
		r := next(ctx, c)
		if err := j.EndCall(ctx, stored, r); err != nil {
			b.o.Log.Warn("record the end of a call", "tool", c.Name, "call", c.ID, "err", err)
		}
		return r
	}
}
