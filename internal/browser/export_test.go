package browser

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Crash ends the browser as an error of it does.
func (b *Browser) Crash(ctx context.Context) { b.conn.Post(ctx, "", "Browser.crash", nil) }

// SetLoadTimeout changes how long a load may take, and returns how long it might before. No
// action may go on.
func (b *Browser) SetLoadTimeout(d time.Duration) (before time.Duration) {
	before, b.opts.LoadTimeout = b.opts.LoadTimeout, d
	return before
}

// FileName is how the name of a download is cleaned.
var FileName = fileName

// CrashFrame ends the process of a frame as an error of it does.
func (p *Page) CrashFrame(ctx context.Context, url string) error {
	p.mu.Lock()
	session := ""
	for _, f := range p.frames {
		if strings.Contains(f.url, url) {
			session = f.session
		}
	}
	p.mu.Unlock()
	if session == p.main {
		return errors.New("the frame has no process of its own")
	}
	return p.call(ctx, session, "Page.crash", nil, nil)
}

// Gone is closed when the browser has gone.
func (b *Browser) Gone() <-chan struct{} { return b.conn.Gone() }

// Reload loads the page again, also after a crash.
func (p *Page) Reload(ctx context.Context) (Info, error) {
	p.acting.Lock()
	defer p.acting.Unlock()
	old := p.loader()
	if err := p.revive(ctx, "Page.reload", nil, nil); err != nil {
		return Info{}, err
	}
	return p.arrive(ctx, func(f *frame) bool { return f.loader != old })
}
