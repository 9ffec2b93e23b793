package remote

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"
)

const (
	// mostEvents is how many events of one stream are read in a second. Then reading waits, and
	// so does the server.
	mostEvents = 200
	second     = time.Second
)

// TooLargeError is the read error of an answer with a message that is too large.
type TooLargeError struct{ Max int64 }

// Error says how large a message may be.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the server sent a message of more than %d bytes, which is not read", e.Max)
}

// limit bounds the messages in the body of an answer.
func (l *Link) limit(ctx context.Context, resp *http.Response) io.ReadCloser {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // "" is no stream
	b := &body{ReadCloser: resp.Body, ctx: ctx, max: l.cfg.MaxMessage, stream: kind == "text/event-stream", closed: make(chan struct{})}
	return b
}

// body is the body of an answer: one message, or a stream of events that end with an empty
// line each.
type body struct {
	io.ReadCloser
	ctx    context.Context
	max    int64
	stream bool
	close  sync.Once
	closed chan struct{}

	size   int64 // of the message so far
	empty  bool  // the line so far
	events int   // since from
	from   time.Time
	failed error
}

// Read reads on. It fails where a message is too large, from then on always.
func (b *body) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	if b.stream && b.events >= mostEvents {
		if err := b.wait(); err != nil {
			return 0, err
		}
	}
	n, err := b.ReadCloser.Read(p)
	b.count(p[:n])
	if b.size > b.max {
		b.failed = &TooLargeError{b.max}
		return 0, b.failed
	}
	return n, err
}

func (b *body) count(p []byte) {
	if !b.stream {
		b.size += int64(len(p))
		return
	}
	for _, c := range p {
		switch {
		case c == '\r': // is read like any other, but a line of it is empty
			b.size++
		case c != '\n':
			b.size++
			b.empty = false
		case b.empty:
			if b.size > 0 {
				b.happened()
			}
			b.size = 0
		default:
			b.empty = true
			b.size++
		}
		if b.size > b.max {
			return
		}
	}
}

// happened counts an event.
func (b *body) happened() {
	if now := time.Now(); now.Sub(b.from) >= second {
		b.from, b.events = now, 0
	}
	b.events++
}

// wait waits for the next second, at most as long as the request and the body live.
func (b *body) wait() error {
	if rest := second - time.Since(b.from); rest > 0 {
		t := time.NewTimer(rest)
		defer t.Stop()
		select {
		case <-t.C:
		case <-b.closed:
			return http.ErrBodyReadAfterClose
		case <-b.ctx.Done():
			return context.Cause(b.ctx)
		}
	}
	b.events = 0
	return nil
}

// Close ends the body, and a Read that waits.
func (b *body) Close() error {
	b.close.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}
