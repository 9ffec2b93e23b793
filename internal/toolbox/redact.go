package toolbox

import (
	"context"

	"hermes"
)

// redact masks secrets in what a tool gave back, before anything else sees it:
// a result is stored, shown and sent only without them.
func (b *Toolbox) redact(_ member, next runner) runner {
	return func(ctx context.Context, c *hermes.Call) hermes.Result {
		r := next(ctx, c)
		r.Text = b.clean(r.Text)
		r.Shown = b.clean(r.Shown)
		return r
	}
}
