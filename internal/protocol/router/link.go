package router

import (
	"context"
	"sync"
	"time"

	"hermes"
)

// dialTime limits how long a connection takes.
const dialTime = 5 * time.Second

// end is one end of a connection: all that goes over it comes from one frontend.
type end struct {
	to     hermes.Owner
	client string
}

// link is a connection that is made when it is needed, and again when it was lost.
type link struct {
	mu     sync.Mutex // held while it connects
	remote Remote
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
	e := end{to, from.Client}
	c.mu.Lock()
	l := c.links[e]
	if l == nil {
		l = &link{}
		c.links[e] = l
	}
	c.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remote != nil && !ended(l.remote) {
		return l.remote, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	r, err := c.cfg.Dial(ctx, to, from)
	if err != nil {
		c.drop(e, l)
		return nil, err
	}
	l.remote = r
	return r, nil
}

// drop removes a link that does not connect.
func (c *Client) drop(e end, l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.links[e] == l {
		delete(c.links, e)
	}
}

func (l *link) live() Remote {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remote == nil || ended(l.remote) {
		return nil
	}
	return l.remote
}

func (l *link) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.remote == nil {
		return nil
	}
	return l.remote.Close()
}

func ended(r Remote) bool {
	select {
	case <-r.Done():
		return true
	default:
		return false
	}
}
