// Package peer lets one session ask another: it brings a message to a session, wherever that runs, and
// follows the turn that answers it.
//
// A session that no program runs is opened here, unattended, and left after its turn. Who may ask whom is
// decided by package sessions of the tools. Start at [Peers.Send]; exchange.go follows a turn.
package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"hermes"
	"hermes/internal/protocol"
)

// Store is what is read in the database.
type Store interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
}

// Config is what Peers work with.
type Config struct {
	Client protocol.Client
	Store  Store
	Log    *slog.Logger // nil discards
}

// Peers are the sessions of the home. The caller must call Close.
type Peers struct {
	cfg  Config
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu     sync.Mutex
	closed bool
}

// New returns the sessions that a client reaches. It asks nothing yet.
func New(cfg Config) *Peers {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Peers{cfg: cfg, ctx: ctx, stop: stop}
}

// Close ends all exchanges and waits for that. The sessions go on.
func (p *Peers) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop() // also of a delivery that takes long
	p.wg.Wait()
	return nil
}

// The sessions that List reads at a time, and how many of a user it reads at most.
const (
	pageOfList = 200
	maxLook    = 1000
)

// List returns the newest stored sessions of a user for which keep returns true, and what they do. One that is
// damaged is left out.
func (p *Peers) List(ctx context.Context, user string, limit int, keep func(hermes.Session) bool) ([]hermes.Peer, error) {
	var list []hermes.Peer
	f, looked := protocol.Filter{Exclude: []string{hermes.PlatformChild, "tool"}, Limit: pageOfList}, 0
	for {
		infos, err := p.cfg.Client.Sessions(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, info := range infos {
			if info.User != user {
				continue
			}
			if looked++; len(list) == limit || looked > maxLook {
				return list, nil
			}
			row, err := p.cfg.Store.FindSession(ctx, info.ID) // whole, unlike one of a list
			switch {
			case ctx.Err() != nil:
				return nil, context.Cause(ctx)
			case errors.Is(err, hermes.ErrNotFound): // just deleted, or not stored yet
			case err != nil:
				p.cfg.Log.Warn("list a session that others may ask", "session", info.ID, "err", err)
			case keep(row):
				list = append(list, hermes.Peer{Row: row, State: state(info)})
			}
		}
		if len(infos) < f.Limit {
			return list, nil
		}
		f.Offset += f.Limit
	}
}

// Find returns a session.
func (p *Peers) Find(ctx context.Context, ref string) (hermes.Peer, error) {
	row, err := p.cfg.Store.FindSession(ctx, ref)
	return hermes.Peer{Row: row}, err
}

// state says what a session does.
func state(info protocol.SessionInfo) string {
	switch {
	case info.Running == nil:
		return "stored"
	case info.Running.State == "":
		return "open"
	}
	return string(info.Running.State)
}

// The messages that Said reads at a time, and how often.
const (
	pageSize = 50
	maxPages = 100
)

// Said returns the newest message of a session that the program did not send.
func (p *Peers) Said(ctx context.Context, session string) (hermes.Message, error) {
	r := hermes.Range{Last: pageSize, Raw: true}
	for range maxPages {
		list, err := p.cfg.Store.Messages(ctx, session, r)
		if err != nil {
			return hermes.Message{}, err
		}
		for i := len(list) - 1; i >= 0; i-- {
			if m := list[i]; m.Role == hermes.RoleUser && !m.Synthetic {
				return m, nil
			}
		}
		if len(list) < pageSize {
			break
		}
		r.Before = list[0].ID
	}
	return hermes.Message{}, fmt.Errorf("the message that this turn answers was not found, so it is not known who asked for it; answer the user first")
}

// from is the frontend of the messages that a session sends. It has no user who could be asked.
func from(session string) hermes.From {
	return hermes.From{Client: "session " + session, Platform: hermes.PlatformPeer, Name: "session " + session}
}

// Send brings a message to a session.
func (p *Peers) Send(ctx context.Context, m hermes.PeerMessage) (<-chan hermes.PeerAnswer, func(), error) {
	e := &exchange{Peers: p, message: m, from: from(m.From), answer: make(chan hermes.PeerAnswer, 1)}
	sent := make(chan error, 1)
	if err := p.start(e, sent); err != nil {
		return nil, nil, err
	}
	select {
	case err := <-sent:
		if err != nil {
			return nil, nil, err
		}
		return e.answer, e.end, nil
	case <-ctx.Done():
		e.cancel()
		return nil, nil, context.Cause(ctx)
	}
}

// start begins an exchange, unless the peers are closed. It ends with the turn of the message, or with Close.
func (p *Peers) start(e *exchange, sent chan<- error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return hermes.ErrClosed
	}
	e.ctx, e.cancel = context.WithCancel(p.ctx)
	p.wg.Go(func() {
		defer e.cancel()
		e.run(sent)
	})
	return nil
}

// key names a message, so that a session takes it once.
func key() string { return rand.Text() }
