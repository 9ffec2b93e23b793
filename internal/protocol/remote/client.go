package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
)

// Client is a [protocol.Client] for the sessions of another process. When its connection is lost,
// its methods return [protocol.ErrConnection] and all its subscriptions end. It does not connect
// again: whoever dialed it dials a new one, and a frontend attaches there where it was. An
// operation whose Do returned ErrConnection may have been accepted; hermes.Say.Key says how to
// send a message again.
//
// To the server, all that goes over one connection comes from one frontend, so each frontend
// needs its own. The From of a call says only whether the user attends. Where the server names
// this frontend in events, snapshots and errors, the caller finds the From that it passed.
type Client struct {
	conn    *jsonrpc.Conn
	welcome welcome
	work    sync.WaitGroup
	closed  chan struct{} // when Close is called
	close   sync.Once

	mu            sync.Mutex
	over          bool // no events come any more, and no goroutine begins
	subscriptions map[string]*subscription
}

var _ protocol.Client = (*Client)(nil)

// Dial begins to speak the protocol on a connection. ctx limits the beginning only. If it
// fails, the stream is closed.
func Dial(ctx context.Context, stream jsonrpc.Stream, h Hello) (*Client, error) {
	limit(stream, MaxReply)
	c := &Client{closed: make(chan struct{}), subscriptions: map[string]*subscription{}}
	c.conn = jsonrpc.New(context.WithoutCancel(ctx), stream, c, jsonrpc.Options{MaxWrite: MaxRequest})
	h.Version = protocol.Version
	if err := c.call(ctx, methodInitialize, h, &c.welcome, hermes.From{}); err != nil {
		_ = c.conn.Close()
		_ = c.conn.Wait()
		return nil, err
	}
	if c.welcome.Version != protocol.Version {
		_ = c.Close()
		return nil, fmt.Errorf("%w: this program speaks version %d, the server version %d", ErrVersion, protocol.Version, c.welcome.Version)
	}
	c.work.Go(func() { // ends with the connection
		_ = c.conn.Wait()
		c.endAll()
	})
	return c, nil
}

// From is what the server takes this frontend for.
func (c *Client) From() hermes.From { return c.welcome.From }

// Server is what the server says it is.
func (c *Client) Server() string { return c.welcome.Server }

// Done returns a channel that is closed when the connection has ended.
func (c *Client) Done() <-chan struct{} { return c.conn.Done() }

// Close ends the connection and all subscriptions, and waits for them.
func (c *Client) Close() error {
	c.close.Do(func() { close(c.closed) })
	_ = c.conn.Close()
	_ = c.conn.Wait()
	c.work.Wait()
	return nil
}

// call calls a method. In an error, self is this frontend.
func (c *Client) call(ctx context.Context, method string, params, result any, self hermes.From) error {
	return c.failed(c.conn.Call(ctx, method, params, result), self)
}

// failed words the error of a call.
func (c *Client) failed(err error, self hermes.From) error {
	if err == nil {
		return nil
	}
	err = decodeError(err)
	if e, ok := errors.AsType[*refusal](err); ok {
		if answered, ok := errors.AsType[hermes.ErrAnswered](e.cause); ok {
			c.replace(&answered.By, self)
			e.cause = answered
		}
	}
	return err
}

// Sessions lists the sessions of the other process.
func (c *Client) Sessions(ctx context.Context, f protocol.Filter) ([]protocol.SessionInfo, error) {
	var result sessionsResult
	err := c.call(ctx, methodSessions, sessionsParams{f}, &result, hermes.From{})
	return result.Sessions, err
}

// Open makes a session live in the other process.
func (c *Client) Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	run.Origin.Platform, run.Origin.User = "", "" // the server sets them
	var result openResult
	err := c.call(ctx, methodOpen, openParams{Run: run, Attends: from.Attends}, &result, from)
	return result.Session, err
}

// Do sends an operation.
func (c *Client) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	raw, err := protocol.EncodeOp(op)
	if err != nil {
		return err
	}
	return c.call(ctx, methodDo, doParams{Session: id, Op: raw}, nil, from)
}

// History returns a page of the stored transcript.
func (c *Client) History(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	var result historyResult
	err := c.call(ctx, methodHistory, historyParams{Session: id, Range: r}, &result, hermes.From{})
	return result.Messages, err
}

// Command runs a slash command.
func (c *Client) Command(ctx context.Context, id string, from hermes.From, line string) error {
	return c.call(ctx, methodCommand, commandParams{Session: id, Line: line}, nil, from)
}

// Halt stops all work of the other process.
func (c *Client) Halt(ctx context.Context) (protocol.Halted, error) {
	var result protocol.Halted
	err := c.call(ctx, methodHalt, none{}, &result, hermes.From{})
	return result, err
}

// Attach returns the state of a session and its events from there on. What a frontend
// does not read is kept up to a limit; then it gets hermes.Lagged.
func (c *Client) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (protocol.Snapshot, <-chan protocol.Envelope, error) {
	s := newSubscription(c, id, from)
	var result attachResult
	attached := make(chan error, 1)
	begun := c.start(func() { // ends with the subscription. A caller that has gone does not end the call, or it would never detach
		err := c.conn.CallFunc(context.WithoutCancel(ctx), methodAttach, attachParams{Session: id, After: after, Attends: from.Attends}, func(raw json.RawMessage) error {
			if err := json.Unmarshal(raw, &result); err != nil {
				return err
			}
			s.id = result.Subscription
			return c.subscribe(s)
		})
		attached <- err
		if err == nil {
			s.deliver(ctx)
		}
	})
	if !begun {
		return protocol.Snapshot{}, nil, protocol.ErrConnection
	}
	select {
	case err := <-attached:
		if err != nil {
			return protocol.Snapshot{}, nil, c.failed(err, from)
		}
		c.replaceAll(&result.Snapshot, from)
		return result.Snapshot, s.out, nil
	case <-ctx.Done():
		return protocol.Snapshot{}, nil, context.Cause(ctx)
	}
}

// Handle takes what the server sends by itself. Unknown notifications are ignored.
func (c *Client) Handle(_ context.Context, r *jsonrpc.Request) {
	switch r.Method {
	case noticeEvent:
		id, e, err := decodeEvent(r.Params)
		if err != nil {
			return // it is of a later version
		}
		if s := c.subscription(id); s != nil {
			c.replaceIn(&e, s.from)
			s.add(e, len(r.Params))
		}
	case noticeDetached:
		var p subscriptionParams
		if err := json.Unmarshal(r.Params, &p); err != nil {
			return
		}
		if s := c.unsubscribe(p.Subscription); s != nil {
			s.end()
		}
	default:
		_ = r.Reply(nil, jsonrpc.NoMethod(r.Method))
	}
}

// start runs f in a goroutine that Close waits for, unless the connection has ended.
func (c *Client) start(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.work.Go(f)
	}
	return !c.over
}

func (c *Client) subscribe(s *subscription) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.subscriptions[s.id] = s
	return nil
}

func (c *Client) subscription(id string) *subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.subscriptions[id]
}

func (c *Client) unsubscribe(id string) *subscription {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.subscriptions[id]
	delete(c.subscriptions, id)
	return s
}

// endAll ends all subscriptions: no events come any more.
func (c *Client) endAll() {
	c.mu.Lock()
	all := c.subscriptions
	c.subscriptions, c.over = map[string]*subscription{}, true
	c.mu.Unlock()
	for _, s := range all {
		s.end()
	}
}

// detachTime is how long a subscription that is not wanted any more waits for the server.
const detachTime = 5 * time.Second

// detach tells the server that a subscription is not wanted any more.
func (c *Client) detach(id string) {
	if c.unsubscribe(id) == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), detachTime)
	defer cancel()
	_ = c.conn.Call(ctx, methodDetach, subscriptionParams{id}, nil) // it fails if the connection has ended, and with it the subscription
}
