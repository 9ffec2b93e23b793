package browser

import "context"

// Crash ends the browser as an error of it does.
func (b *Browser) Crash(ctx context.Context) { b.conn.Post(ctx, "", "Browser.crash", nil) }
