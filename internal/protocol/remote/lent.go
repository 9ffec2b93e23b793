package remote

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"hermes/internal/jsonrpc"
	"hermes/internal/protocol"
)

// lent is a subscription of the peer.
type lent struct {
	cancel  context.CancelFunc
	attends bool
	over    chan struct{} // closed when the session knows that it has ended
}

// attach replies with the snapshot and passes events on from there.
func (v *served) attach(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p attachParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	id, err := v.reserve(&lent{cancel, p.Attends, make(chan struct{})})
	if err != nil {
		cancel()
		return nil, err
	}
	from := v.from
	from.Attends = p.Attends
	snapshot, events, err := v.Client.Attach(ctx, p.Session, from, p.After)
	if err != nil {
		v.release(id)
		return nil, err
	}
	if err := r.Reply(attachResult{Subscription: id, Snapshot: snapshot}, nil); err != nil {
		cancel() // what follows is over at once
	}
	v.work.Go(func() { // ends with the subscription
		v.pass(ctx, r.Conn(), id, events)
		cancel()
		for range events { // it is closed when the session has forgotten the subscription
		}
		v.release(id)
	})
	return nil, nil
}

// reserve takes a place for a subscription and names it.
func (v *served) reserve(l *lent) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.subscriptions) >= maxSubscriptions {
		return "", fmt.Errorf("the connection has %d subscriptions; end one of them first", maxSubscriptions)
	}
	v.serial++
	id := fmt.Sprintf("s%d", v.serial)
	v.subscriptions[id] = l
	return id, nil
}

// release ends a subscription that the session has none of any more.
func (v *served) release(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	l := v.subscriptions[id]
	delete(v.subscriptions, id)
	l.cancel()
	close(l.over)
}

// pass passes the events of a subscription on. It waits while the peer does not read; the
// session does not.
func (v *served) pass(ctx context.Context, conn *jsonrpc.Conn, id string, events <-chan protocol.Envelope) {
	defer func() {
		if p := recover(); p != nil {
			v.log("a subscription panicked", "panic", p, "stack", string(debug.Stack()))
		}
		_ = conn.Notify(context.WithoutCancel(ctx), noticeDetached, subscriptionParams{id}) // it fails if the connection has ended
	}()
	for e := range events {
		err := v.notify(ctx, conn, id, e)
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.Is(err, jsonrpc.ErrEnded):
			return
		default:
			v.log("an event cannot be sent", "session", e.Session, "err", err)
		}
	}
}

// notify sends one event. It is encoded once only: it may be large.
func (v *served) notify(ctx context.Context, conn *jsonrpc.Conn, id string, e protocol.Envelope) error {
	raw, err := e.MarshalJSON()
	if err != nil {
		return err
	}
	return conn.Notify(ctx, noticeEvent, encodeEvent(id, raw))
}

func (v *served) log(text string, args ...any) {
	if v.Log != nil {
		v.Log.Error(text, args...)
	}
}

// detach ends a subscription of the peer and replies when the session knows. One that has
// ended is not an error.
func (v *served) detach(ctx context.Context, r *jsonrpc.Request) (any, error) {
	var p subscriptionParams
	if err := params(r, &p); err != nil {
		return nil, err
	}
	v.mu.Lock()
	l := v.subscriptions[p.Subscription]
	v.mu.Unlock()
	if l == nil {
		return none{}, nil
	}
	l.cancel()
	select {
	case <-l.over:
	case <-ctx.Done():
	}
	return none{}, nil
}
