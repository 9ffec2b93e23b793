package toolbox

import (
	"context"

	"hermes"
)

// redact masks secrets in a tool's result before anything else sees it, so that
// results are stored, shown and sent without them.
func (b *Toolbox) redact(next runner) runner {
	return func(ctx context.Context, c *call) hermes.Result {
		r := next(ctx, c)
		r.Text = b.clean(r.Text)
		r.Shown = b.clean(r.Shown)
		return r
	}
}
