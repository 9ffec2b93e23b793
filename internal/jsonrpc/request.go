package jsonrpc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
)

// Request is a request or notification of the peer.
type Request struct {
	Method string
	Params json.RawMessage // nil if there are none

	id      json.RawMessage // nil for a notification
	conn    *Conn
	replied atomic.Bool
}

// Conn returns the connection that the request came on.
func (r *Request) Conn() *Conn { return r.conn }

// Notification reports whether the peer expects no reply.
func (r *Request) Notification() bool { return r.id == nil }

// Reply sends the outcome of a request, unless it has one already or is a notification. What
// the caller sends after that comes after it. An error that is no [*Error] is an internal one
// with its text. Reply waits while the peer does not read. It returns an error if the connection
// has ended, or if the peer got an error because the result cannot be sent.
func (r *Request) Reply(result any, err error) error {
	if r.Notification() || r.replied.Swap(true) {
		return nil
	}
	return r.conn.reply(r.id, result, err)
}

// Go runs f in a goroutine of its own and replies with what it returns, unless f has replied
// itself. If too many of the peer's requests run, it refuses with [CodeBusy]. A panic of f is
// an internal error.
func (r *Request) Go(f func(ctx context.Context) (any, error)) {
	c := r.conn
	c.mu.Lock()
	busy := c.running >= c.options.Requests
	if !busy {
		c.running++
	}
	c.mu.Unlock()
	if busy {
		_ = r.Reply(nil, &Error{Code: CodeBusy, Message: fmt.Sprintf("%d requests of this connection are running; wait for one of them", c.options.Requests)})
		return
	}
	c.work.Go(func() { // ends with f, whose context ends with the connection
		defer func() {
			c.mu.Lock()
			c.running--
			c.mu.Unlock()
		}()
		defer r.recover()
		result, err := f(c.ctx)
		_ = r.Reply(result, err)
	})
}

// recover answers a request whose handler panics.
func (r *Request) recover() {
	p := recover()
	if p == nil {
		return
	}
	if log := r.conn.options.Log; log != nil {
		log.Error("a request panicked", slog.String("method", r.Method), slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
	}
	_ = r.Reply(nil, &Error{Code: CodeInternal, Message: "an internal error; the log has more"})
}

// handle passes a request or notification to the handler.
func (c *Conn) handle(m message) {
	r := &Request{Method: m.Method, Params: m.Params, conn: c}
	if len(m.ID) > 0 && !bytes.Equal(m.ID, []byte("null")) {
		r.id = m.ID
	}
	defer r.recover()
	if c.handler == nil {
		_ = r.Reply(nil, NoMethod(r.Method))
		return
	}
	c.handler.Handle(c.ctx, r)
}

// NoMethod is the error for a method that does not exist.
func NoMethod(method string) *Error {
	return &Error{Code: CodeNoMethod, Message: fmt.Sprintf("there is no method %q", method)}
}

// reply sends a response. A result that cannot be sent becomes an error.
func (c *Conn) reply(id json.RawMessage, result any, err error) error {
	var broken error
	if err == nil {
		var raw json.RawMessage
		if raw, broken = marshal(result); broken == nil {
			broken = c.send(c.ctx, encodeReply(id, raw, nil))
		}
		if broken == nil || errors.Is(broken, ErrEnded) {
			return broken
		}
		err = broken
	}
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		refused = &Error{Code: CodeInternal, Message: err.Error()}
	}
	return cmp.Or(c.send(c.ctx, encodeReply(id, nil, refused)), broken)
}
