// Package router is the protocol's client over all sessions of a home. What this process runs
// goes to its own client; what another process runs goes over a connection to that process,
// which the leases name.
//
// It keeps its connections and finds the owner of a session again when one is lost. It does
// not know how a connection is made, nor what a session is. Start at Client; link.go keeps the
// connections, and elsewhere.go says where a session runs.
package router

import (
	"context"
	"errors"
	"sync"

	"hermes"
	"hermes/internal/protocol"
)

// Local is the client of the sessions of this process.
type Local interface {
	protocol.Client
	// Here reports whether a session is live in this process.
	Here(ctx context.Context, id string) bool
}

// Remote is a client of the sessions of another process.
type Remote interface {
	protocol.Client
	// Done returns a channel that is closed when the connection has ended.
	Done() <-chan struct{}
	// Close ends the connection.
	Close() error
}

// Store is what a router reads in the database.
type Store interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	Leases(ctx context.Context) ([]hermes.Lease, error)
}

// Config is what a router works with.
type Config struct {
	Local Local
	Store func(context.Context) (Store, error)
	// Own returns the name of this process in leases.
	Own func() string
	// Dial connects a frontend to the owner of a lease, at its address. If it cannot be
	// reached, the error is protocol.ErrConnection; a refusal is another one.
	Dial func(ctx context.Context, to hermes.Owner, from hermes.From) (Remote, error)
}

// Client is a [protocol.Client] for all sessions of a home. The caller must call Close.
type Client struct {
	cfg Config

	mu     sync.Mutex
	closed bool
	links  map[end]*link
	routes map[string]hermes.Owner // by session
}

var _ protocol.Client = (*Client)(nil)

// New returns a client. It connects to nothing yet.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, links: map[end]*link{}, routes: map[string]hermes.Owner{}}
}

// Close ends all connections. Sessions of this process go on.
func (c *Client) Close() error {
	c.mu.Lock()
	links := c.links
	c.closed, c.links, c.routes = true, map[end]*link{}, map[string]hermes.Owner{}
	c.mu.Unlock()
	var errs []error
	for _, l := range links {
		if r := l.remote.Load(); r != nil {
			errs = append(errs, (*r).Close())
		}
	}
	return errors.Join(errs...)
}

// Open makes a session live in this process. If another one runs it, the error is *[Elsewhere].
func (c *Client) Open(ctx context.Context, from hermes.From, run hermes.RunSpec) (protocol.SessionInfo, error) {
	if run.Session != "" && !c.cfg.Local.Here(ctx, run.Session) {
		if e := c.Elsewhere(ctx, run.Session); e != nil {
			return protocol.SessionInfo{}, e
		}
	}
	info, err := c.cfg.Local.Open(ctx, from, run)
	if errors.Is(err, hermes.ErrLeased) { // just now
		if e := c.Elsewhere(ctx, run.Session); e != nil {
			return info, e
		}
	}
	return info, err
}

// Attach returns the state of a session and its events from there on, wherever it runs.
func (c *Client) Attach(ctx context.Context, id string, from hermes.From, after protocol.After) (s protocol.Snapshot, events <-chan protocol.Envelope, err error) {
	err = c.with(ctx, id, from, func(to protocol.Client) (err error) {
		s, events, err = to.Attach(ctx, id, from, after)
		return err
	})
	return s, events, err
}

// Do sends an operation to a session, wherever it runs.
func (c *Client) Do(ctx context.Context, id string, from hermes.From, op hermes.Op) error {
	return c.with(ctx, id, from, func(to protocol.Client) error { return to.Do(ctx, id, from, op) })
}

// Command runs a slash command in the process of the session.
func (c *Client) Command(ctx context.Context, id string, from hermes.From, line string) error {
	return c.with(ctx, id, from, func(to protocol.Client) error { return to.Command(ctx, id, from, line) })
}

// History returns a part of the stored transcript. A session of another process that has no
// stored message yet is only known there.
func (c *Client) History(ctx context.Context, id string, r hermes.Range) ([]hermes.Message, error) {
	list, err := c.cfg.Local.History(ctx, id, r)
	if !errors.Is(err, hermes.ErrNotFound) {
		return list, err
	}
	err = c.with(ctx, id, hermes.From{}, func(to protocol.Client) (err error) {
		list, err = to.History(ctx, id, r)
		return err
	})
	return list, err
}

// with calls f with the client of the process that runs a session. A session that was closed
// there may have another owner by now, so that f is called once more with its client.
func (c *Client) with(ctx context.Context, id string, from hermes.From, f func(protocol.Client) error) error {
	to, err := c.find(ctx, id, from)
	if err != nil {
		return err
	}
	err = f(to)
	if to == protocol.Client(c.cfg.Local) || !errors.Is(err, hermes.ErrClosed) && !errors.Is(err, protocol.ErrConnection) {
		return err
	}
	c.forget(id)
	if errors.Is(err, protocol.ErrConnection) { // it may have been done
		return err
	}
	next, findErr := c.find(ctx, id, from)
	if findErr != nil || next == to {
		return err
	}
	return f(next)
}

// find returns the client of the process that runs a session; without one, that of this
// process, which says so.
func (c *Client) find(ctx context.Context, id string, from hermes.From) (protocol.Client, error) {
	if c.cfg.Local.Here(ctx, id) {
		return c.cfg.Local, nil
	}
	if r := c.kept(id, from); r != nil {
		return r, nil
	}
	l, ok, err := c.lease(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return c.cfg.Local, nil
	case l.Address == "":
		if e := c.Elsewhere(ctx, id); e != nil {
			return nil, e
		}
		return c.cfg.Local, nil // just now
	}
	to := hermes.Owner{Name: l.Owner, Address: l.Address}
	r, err := c.connect(ctx, to, from)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.routes[id] = to
	return r, nil
}

// lease returns the lease of a session that another process has.
func (c *Client) lease(ctx context.Context, id string) (hermes.Lease, bool, error) {
	others, err := c.others(ctx)
	if err != nil {
		return hermes.Lease{}, false, err
	}
	l, ok := others[id]
	return l, ok, nil
}

// others returns the leases of other processes, by session.
func (c *Client) others(ctx context.Context) (map[string]hermes.Lease, error) {
	store, err := c.cfg.Store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := store.Leases(ctx)
	if err != nil {
		return nil, err
	}
	own := c.cfg.Own()
	others := map[string]hermes.Lease{}
	for _, l := range list {
		if l.Owner != own {
			others[l.Session] = l
		}
	}
	return others, nil
}
