package httpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Clocks are the time limits for the phases of one exchange. A zero clock does
// not run.
type Clocks struct {
	FirstByte time.Duration // from sending to the first byte of the answer's body
	Idle      time.Duration // between two reads that bring bytes, keepalives included
	Stale     time.Duration // between two calls of Alive, which report real progress
	Whole     time.Duration // from sending to the end of the body
}

// ErrTimeout is wrapped by every *TimeoutError.
var ErrTimeout = errors.New("timed out")

// TimeoutError says which clock ran out.
type TimeoutError struct {
	Phase string // "first byte", "idle", "stale", "whole"
	After time.Duration
}

// Error says in plain words what did not happen in time.
func (e *TimeoutError) Error() string {
	switch e.Phase {
	case "first byte":
		return fmt.Sprintf("no answer within %v", e.After)
	case "whole":
		return fmt.Sprintf("the answer was not complete after %v", e.After)
	case "stale":
		return fmt.Sprintf("the answer stalled for %v although the connection stayed open", e.After)
	}
	return fmt.Sprintf("no more data arrived for %v", e.After)
}

// Unwrap makes every TimeoutError an ErrTimeout.
func (e *TimeoutError) Unwrap() error { return ErrTimeout }

// Timeout marks it as a timeout for users of net.Error.
func (e *TimeoutError) Timeout() bool { return true }

// Exchange is one request under clocks, from sending to the end of its body.
// Close must be called; it also closes the body.
type Exchange struct {
	Response *http.Response
	clocks   Clocks
	cancel   context.CancelCauseFunc
	ctx      context.Context

	mu    sync.Mutex
	wait  *time.Timer // the first byte, then idle
	stale *time.Timer
	whole *time.Timer
	began bool
}

// Do sends the request under the clocks. A clock that runs out ends the
// request or the waiting read with a *TimeoutError. If err is not nil,
// there is nothing to close.
func Do(client *http.Client, req *http.Request, c Clocks) (*Exchange, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	x := &Exchange{clocks: c, cancel: cancel, ctx: ctx}
	x.wait = x.start("first byte", c.FirstByte)
	x.whole = x.start("whole", c.Whole)
	resp, err := client.Do(req.WithContext(ctx))
	if err != nil {
		err = x.cause(err)
		x.stop()
		return nil, err
	}
	x.Response = resp
	resp.Body = &watched{x: x, body: resp.Body}
	return x, nil
}

// Alive reports real progress. It is cheap enough for every event of a stream.
func (x *Exchange) Alive() {
	if x.clocks.Stale <= 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stale == nil {
		x.stale = x.start("stale", x.clocks.Stale)
		return
	}
	x.stale.Reset(x.clocks.Stale)
}

// Hurry limits the time for the rest of the body, for a stream that is complete
// but has not ended yet.
func (x *Exchange) Hurry(d time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.whole != nil {
		x.whole.Stop()
	}
	x.whole = x.start("whole", d)
}

// Drain reads the few bytes after the end of a stream's content, so that the
// connection can be reused. It takes at most d.
func (x *Exchange) Drain(d time.Duration) {
	const remains = 8 << 10
	x.Hurry(d)
	_, _ = io.CopyN(io.Discard, x.Response.Body, remains) // a failure only costs the connection
}

// Close ends the exchange and frees what it holds. It may be called twice.
func (x *Exchange) Close() error {
	defer x.stop()
	return x.Response.Body.Close()
}

func (x *Exchange) start(phase string, after time.Duration) *time.Timer {
	if after <= 0 {
		return nil
	}
	return time.AfterFunc(after, func() { x.cancel(&TimeoutError{Phase: phase, After: after}) })
}

func (x *Exchange) stop() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range []*time.Timer{x.wait, x.stale, x.whole} {
		if t != nil {
			t.Stop()
		}
	}
	x.cancel(nil)
}

// read records that bytes came.
func (x *Exchange) read() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.began {
		if x.wait != nil {
			x.wait.Reset(x.clocks.Idle)
		}
		return
	}
	x.began = true
	if x.wait != nil {
		x.wait.Stop()
	}
	x.wait = x.start("idle", x.clocks.Idle)
	if x.stale == nil {
		x.stale = x.start("stale", x.clocks.Stale)
	}
}

// cause replaces the plain "context canceled" of a clock that ran out.
func (x *Exchange) cause(err error) error {
	if t, ok := errors.AsType[*TimeoutError](context.Cause(x.ctx)); ok {
		return t
	}
	return err
}

type watched struct {
	x    *Exchange
	body io.ReadCloser
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.x.read()
	}
	if err != nil && err != io.EOF {
		err = w.x.cause(err)
	}
	return n, err
}

func (w *watched) Close() error { return w.body.Close() }
