package browser

import "context"

// Crash ends the browser as an error of it does.
func (b *Browser) Crash(ctx context.Context) { b.conn.Post(ctx, "", "Browser.crash", nil) }

// FileName is how the name of a download is cleaned.
var FileName = fileName
