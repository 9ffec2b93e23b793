// Package jsonrpc is a connection that speaks JSON-RPC 2.0 in both directions, over any
// [Stream] of whole messages: lines of a socket or a pipe ([Lines]), or messages of a
// WebSocket.
//
// It knows no method. Batches are refused. Start at New, then read request.go (what the peer
// asks), outbox.go (how messages are written) and lines.go.
package jsonrpc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// Stream carries whole messages. A connection reads in one goroutine and writes in another.
type Stream interface {
	// Read returns the next message, which belongs to the caller, or an error that ends the
	// connection: io.EOF if the peer has ended it, [ErrTooLarge] if the message is too large.
	Read() ([]byte, error)
	// Write writes messages in order. It may not keep them.
	Write(messages ...[]byte) error
	// Close ends the stream, and with it a Read or Write that runs. It may be called more than
	// once.
	Close() error
}

// Reasons why a connection ended, beside errors of its stream.
var (
	// ErrEnded is wrapped by the errors of calls on a connection that has ended. They also wrap
	// the reason.
	ErrEnded = errors.New("the connection has ended")
	// ErrClosed means that Close was called.
	ErrClosed = errors.New("closed here")
	// ErrTooLarge means that a message is larger than what may be read or written.
	ErrTooLarge = errors.New("the message is too large")
	// ErrSlow means that the peer did not read for Options.WriteTime.
	ErrSlow = errors.New("the other side does not read")
	// ErrGarbage means that the peer sent what is not JSON.
	ErrGarbage = errors.New("the other side sent what is not JSON")
	// ErrFlood means that the peer sent more than Options.Strays allows.
	ErrFlood = errors.New("the other side floods the connection")
)

// Options are the limits of a connection. Zero fields have defaults.
type Options struct {
	// Requests is how many requests of the peer may run at once in Request.Go; 64 if it is 0.
	Requests int
	// WriteTime is how long the peer may let a message wait before it reads it; two minutes if
	// it is 0, no limit if it is negative.
	WriteTime time.Duration
	// MaxWrite is how large a message may be to be written, in bytes; 0 is no limit.
	MaxWrite int
	// Strays is how many messages may come in a second that reach no one: responses that are not
	// waited for, and messages that cannot be read; 0 is no limit. The handler counts the others.
	Strays int
	// Log gets the panics of handlers; nil means none does.
	Log *slog.Logger
}

// Handler handles what the peer sends.
type Handler interface {
	// Handle is called for each request and notification, one after another in the order in
	// which they came. Nothing else is read meanwhile, responses included: what takes time, or
	// calls the peer, belongs into Request.Go. ctx ends with the connection.
	Handle(ctx context.Context, r *Request)
}

// Conn is a connection. Its methods may be called concurrently.
type Conn struct {
	stream  Stream
	handler Handler
	options Options
	ctx     context.Context // ends with the connection; its cause is the reason
	cancel  context.CancelCauseFunc
	out     outbox
	work    sync.WaitGroup // its goroutines

	mu      sync.Mutex
	serial  int64
	pending map[string]*call // by id
	running int              // requests in Request.Go

	second time.Time // of strays, which only the reader counts
	strays int
}

// call is a request of ours that waits for its response.
type call struct {
	take func(json.RawMessage) error
	over chan error // holds one
}

// New begins to read. A nil handler refuses all requests. The connection ends with its stream,
// with ctx, or by Close.
func New(ctx context.Context, stream Stream, handler Handler, o Options) *Conn {
	o.Requests, o.WriteTime = cmp.Or(o.Requests, 64), cmp.Or(o.WriteTime, 2*time.Minute)
	c := &Conn{stream: stream, handler: handler, options: o, pending: map[string]*call{}, out: newOutbox()}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	c.work.Go(func() { // ends with the connection
		defer stop()
		c.read()
	})
	c.work.Go(c.write) // ends with the connection
	return c
}

// Done returns a channel that is closed when the connection has ended.
func (c *Conn) Done() <-chan struct{} { return c.ctx.Done() }

// Err returns why the connection has ended, or nil.
func (c *Conn) Err() error { return context.Cause(c.ctx) }

// closeTime is how long Close waits until the peer has read what was sent.
const closeTime = time.Second

// Close writes what waits to be written, if the peer reads it soon, and ends the connection.
func (c *Conn) Close() error {
	c.out.flush(c.ctx, closeTime)
	c.end(ErrClosed)
	return nil
}

// Wait waits until the connection has ended and its goroutines and those of its requests have,
// and returns the reason.
func (c *Conn) Wait() error {
	<-c.ctx.Done()
	c.work.Wait()
	return c.Err()
}

// end ends the connection now. Only the first reason counts.
func (c *Conn) end(reason error) {
	c.cancel(reason)
	_ = c.stream.Close() // nothing is left to do if it fails
}

// ended is the error of whoever needs a connection that has ended.
func (c *Conn) ended() error { return fmt.Errorf("%w: %w", ErrEnded, c.Err()) }

// Call sends a request and decodes its result into the value that result points at, unless it
// is nil. The error is an [*Error] if the peer refused, wraps [ErrEnded] if the connection
// ended, and is the cause of ctx if that ended: then the response is ignored.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	var raw json.RawMessage
	err := c.CallFunc(ctx, method, params, func(r json.RawMessage) error {
		raw = r
		return nil
	})
	if err != nil || result == nil {
		return err
	}
	if err := json.Unmarshal(raw, result); err != nil {
		return fmt.Errorf("read the result of %s: %w", method, err)
	}
	return nil
}

// CallFunc is Call for a caller that must have seen the result before the next message is
// handled: take gets it as Handler gets requests, and must return soon. Its error is that of the
// call. It is not called after CallFunc has returned.
func (c *Conn) CallFunc(ctx context.Context, method string, params any, take func(json.RawMessage) error) error {
	raw, err := marshal(params)
	if err != nil {
		return err
	}
	waiting := &call{take: take, over: make(chan error, 1)}
	id := c.expect(waiting)
	if err := c.send(ctx, encode(id, method, raw)); err != nil {
		c.forget(id)
		return err
	}
	select {
	case err := <-waiting.over:
		return err
	case <-ctx.Done():
		if c.forget(id) {
			return context.Cause(ctx)
		}
		return <-waiting.over // it is being taken
	case <-c.ctx.Done():
		if c.forget(id) {
			return c.ended()
		}
		return <-waiting.over
	}
}

// expect registers a call and returns its id.
func (c *Conn) expect(w *call) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.serial++
	id := strconv.FormatInt(c.serial, 10)
	c.pending[id] = w
	return id
}

// forget removes a call and reports whether it was still waiting.
func (c *Conn) forget(id string) bool {
	_, ok := c.remove(id)
	return ok
}

func (c *Conn) remove(id string) (*call, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, ok := c.pending[id]
	delete(c.pending, id)
	return w, ok
}

// Notify sends a notification. It waits while the peer does not read, at most until ctx ends:
// then nothing was sent.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	raw, err := marshal(params)
	if err != nil {
		return err
	}
	return c.send(ctx, encode("", method, raw))
}

// send queues a message.
func (c *Conn) send(ctx context.Context, message []byte) error {
	if most := c.options.MaxWrite; most > 0 && len(message) > most {
		return fmt.Errorf("%w: %d bytes, of %d at most", ErrTooLarge, len(message), most)
	}
	if err := c.out.add(ctx, c.ctx, message); err != nil {
		if c.ctx.Err() != nil {
			return c.ended()
		}
		return err
	}
	return nil
}

// write writes what is queued.
func (c *Conn) write() {
	limit := time.AfterFunc(time.Hour, func() { c.end(ErrSlow) })
	limit.Stop()
	for {
		batch := c.out.take(c.ctx)
		if batch == nil {
			return
		}
		if c.options.WriteTime > 0 {
			limit.Reset(c.options.WriteTime)
		}
		err := c.stream.Write(batch...)
		limit.Stop()
		c.out.written()
		if err != nil {
			c.end(err)
			return
		}
	}
}

// read handles one message after another.
func (c *Conn) read() {
	for {
		raw, err := c.stream.Read()
		switch {
		case errors.Is(err, ErrTooLarge):
			c.refuse(&Error{Code: CodeInvalid, Message: err.Error()})
			c.out.flush(c.ctx, closeTime)
			c.end(err)
			return
		case err != nil:
			c.end(err)
			return
		}
		if err := c.take(raw); err != nil {
			c.out.flush(c.ctx, closeTime)
			c.end(err)
			return
		}
	}
}

// take handles one message. An error ends the connection.
func (c *Conn) take(raw []byte) error {
	m, err := decode(raw)
	switch {
	case err != nil && err.Code == CodeParse:
		c.refuse(err)
		return ErrGarbage
	case err != nil:
		c.refuse(err)
		return c.stray()
	case m.Method != "":
		c.handle(m)
	case !c.answered(m):
		return c.stray()
	}
	return nil
}

// stray counts a message that reaches no one.
func (c *Conn) stray() error {
	if c.options.Strays <= 0 {
		return nil
	}
	if now := time.Now(); now.Sub(c.second) >= time.Second {
		c.second, c.strays = now, 0
	}
	if c.strays++; c.strays > c.options.Strays {
		return fmt.Errorf("%w: more than %d messages in a second that nothing waits for", ErrFlood, c.options.Strays)
	}
	return nil
}

// refuse answers a message that has no id, or none that can be read.
func (c *Conn) refuse(e *Error) {
	_ = c.send(c.ctx, encodeReply(nil, nil, e)) // the connection has ended if it fails
}

// answered takes the response to a call of ours. It returns false for others: their caller has gone.
func (c *Conn) answered(m message) bool {
	w, ok := c.remove(m.key())
	switch {
	case !ok:
	case m.Error != nil:
		w.over <- m.Error
	default:
		w.over <- w.take(m.Result)
	}
	return ok
}
