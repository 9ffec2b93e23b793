// Package cdp speaks the DevTools protocol with a browser: calls with their answers, and
// events, in raw JSON. It has no types for the protocol's messages: those age with each
// version of a browser, and a caller reads few fields of them.
//
// A [Conn] works over a [Transport]: a pipe to a browser that this program started
// ([Pipe]), which no other program can use, or a WebSocket to one that runs ([Dial]).
// Sessions are flat: each call and event names its session, empty for the browser itself.
//
// The package does not know what pages, tabs or snapshots are. Start reading at [Conn].
package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
)

// Limits of a connection.
const (
	// MaxMessage is the longest message that is read, in bytes. The call whose answer is
	// longer fails with ErrTooLarge; the connection goes on.
	MaxMessage = 64 << 20
	maxCalls   = 4096 // that wait for an answer
	maxQueue   = 256  // messages that wait to be written
)

// Event is what the browser tells by itself.
type Event struct {
	Session string // empty: the browser
	Method  string
	Params  json.RawMessage
}

// Conn is a connection to a browser. Its methods may be called concurrently. The caller of
// New must call Close.
type Conn struct {
	transport Transport
	event     func(Event)
	queue     chan []byte
	gone      chan struct{} // closed with err set
	work      sync.WaitGroup

	mu    sync.Mutex
	next  int64
	calls map[int64]call
	err   error
}

// call is a call that waits for its answer.
type call struct {
	session string
	answer  chan answer // has room for it
}

type answer struct {
	result json.RawMessage
	err    error
}

// New begins to read. event is called with one event after the other, in their order, also
// in relation to the answers of calls. It must return soon and must not call Call, whose
// answer is behind it; while it works, nothing else is read.
func New(t Transport, event func(Event)) *Conn {
	c := &Conn{
		transport: t, event: event, calls: map[int64]call{},
		queue: make(chan []byte, maxQueue), gone: make(chan struct{}),
	}
	c.work.Go(c.read)
	c.work.Go(c.write)
	return c
}

// Gone is closed when the connection has ended.
func (c *Conn) Gone() <-chan struct{} { return c.gone }

// Err says why the connection has ended; it is nil as long as it has not. It is an ErrClosed.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Close ends the connection. Calls that wait fail with ErrClosed.
func (c *Conn) Close() {
	c.fail(errors.New("the connection was closed"))
	c.work.Wait()
}

// Call calls a method and waits for its answer, which it reads into result if that is not
// nil. The error is the context's cause, an ErrClosed, ErrDetached or ErrCrashed, or what
// the browser answered, an *Error.
func (c *Conn) Call(ctx context.Context, session, method string, params, result any) error {
	got := make(chan answer, 1)
	id, err := c.begin(ctx, session, method, params, got)
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case a := <-got:
		err = a.err
		if err == nil && result != nil {
			err = json.Unmarshal(a.result, result)
		}
	case <-ctx.Done():
		c.forget(id)
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Post calls a method whose answer does not matter. It is written before what is called
// after it.
func (c *Conn) Post(ctx context.Context, session, method string, params any) {
	_, _ = c.begin(ctx, session, method, params, nil) // a connection that has gone says so elsewhere
}

func (c *Conn) begin(ctx context.Context, session, method string, params any, got chan answer) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, context.Cause(ctx)
	}
	c.mu.Lock()
	if c.err != nil || len(c.calls) >= maxCalls {
		defer c.mu.Unlock()
		if c.err == nil {
			return 0, fmt.Errorf("%d calls wait for an answer of the browser", maxCalls)
		}
		return 0, c.err
	}
	c.next++
	id := c.next
	if got != nil {
		c.calls[id] = call{session, got}
	}
	c.mu.Unlock()
	raw, err := json.Marshal(request{id, method, params, session})
	if err == nil {
		select {
		case c.queue <- raw:
			return id, nil
		case <-c.gone:
			err = c.Err()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	c.forget(id)
	return 0, err
}

func (c *Conn) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, id)
}

// fail ends the connection.
func (c *Conn) fail(why error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = fmt.Errorf("%w: %w", ErrClosed, why)
	waiting := c.calls
	c.calls = map[int64]call{}
	close(c.gone)
	c.mu.Unlock()
	for _, w := range waiting {
		w.answer <- answer{err: c.err}
	}
	c.transport.Close()
}

func (c *Conn) write() {
	for {
		select {
		case m := <-c.queue:
			if err := c.transport.Write(m); err != nil {
				c.fail(err)
				return
			}
		case <-c.gone:
			return
		}
	}
}

func (c *Conn) read() {
	for {
		raw, whole, err := c.transport.Read()
		if err != nil {
			c.fail(err)
			return
		}
		m, err := parse(raw, whole)
		if err != nil {
			c.fail(fmt.Errorf("a message of the browser cannot be read: %w", err))
			return
		}
		c.receive(m)
	}
}

func (c *Conn) receive(m message) {
	if m.id != 0 {
		c.mu.Lock()
		w, ok := c.calls[m.id]
		delete(c.calls, m.id)
		c.mu.Unlock()
		if ok {
			w.answer <- answer{m.result, m.failure()}
		}
		return
	}
	if m.method == "" {
		return
	}
	switch m.method { // who is told that a call failed finds that the event has been taken
	case "Inspector.targetCrashed":
		defer c.drop(m.session, ErrCrashed)
	case "Target.detachedFromTarget":
		var p struct{ SessionID string }
		if json.Unmarshal(m.params, &p) == nil && p.SessionID != "" {
			defer c.drop(p.SessionID, ErrDetached)
		}
	}
	c.event(Event{m.session, m.method, m.params})
}

// drop fails the calls of a session that will not be answered any more.
func (c *Conn) drop(session string, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, w := range c.calls {
		if w.session == session {
			delete(c.calls, id)
			w.answer <- answer{err: why}
		}
	}
}
