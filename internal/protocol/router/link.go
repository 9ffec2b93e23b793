package router

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// dialTime limits how long a connection takes.
const dialTime = 5 * time.Second

// end is one end of a connection: all that goes over it comes from one frontend.
type end struct {
	to     hermes.Owner
	client string
}

// link is a connection that is made when it is needed, and again when it was lost. No one waits
// for a process that does not answer longer than its own context allows.
type link struct {
	turn   chan struct{} // holds one while someone connects
	users  int           // who connects or waits for that; guarded by Client.mu
	remote atomic.Pointer[Remote]
}

// kept returns the connection to the owner of a session, if there is one.
func (c *Client) kept(id string, from hermes.From) Remote {
	c.mu.Lock()
	to, known := c.routes[id]
	l := c.links[end{to, from.Client}]
	c.mu.Unlock()
	if !known || l == nil {
		return nil
	}
	return l.live()
}

// forget makes the next call look for the owner of a session.
func (c *Client) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.routes, id)
}

// connect returns the connection of a frontend to an owner.
func (c *Client) connect(ctx context.Context, to hermes.Owner, from hermes.From) (Remote, error) {
	l := c.use(end{to, from.Client})
	defer c.unuse(l)
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if r := l.live(); r != nil {
		return r, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	r, err := c.cfg.Dial(ctx, to, from)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.Join(protocol.ErrConnection, r.Close())
	}
	l.remote.Store(&r)
	return r, nil
}

// use returns the link of an end, until unuse.
func (c *Client) use(e end) *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.links[e]
	if l == nil {
		l = &link{turn: make(chan struct{}, 1)}
		c.links[e] = l
	}
	l.users++
	return l
}

// unuse ends use, and forgets all links that have no connection.
func (c *Client) unuse(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.users--
	maps.DeleteFunc(c.links, func(_ end, l *link) bool { return l.users == 0 && l.live() == nil })
}

// live returns the connection if there is one.
func (l *link) live() Remote {
	r := l.remote.Load()
	if r == nil || ended(*r) {
		return nil
	}
	return *r
}

func ended(r Remote) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}
