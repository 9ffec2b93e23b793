// Package sessions is the toolset with which the model of one session lists the other sessions of the
// same user, and asks one of them: sessions_list and sessions_send.
//
// It decides who may ask whom: never another user's session, a child or a group, never with more tools or in
// another place than the asking session has, never in a circle, and only so deep and so often. What an
// answer brings along of untrusted text is named in its result. How a message reaches a session is
// the [Peers]'s, which may be in other processes. Start at sessions_send.go.
package sessions

import (
	"context"
	"sync"
	"time"

	"hermes"
)

// Peers reaches the sessions of the home. Its methods may be called concurrently.
type Peers interface {
	// List returns the newest stored sessions of a user that keep accepts, last active first.
	List(ctx context.Context, user string, limit int, keep func(hermes.Session) bool) ([]hermes.Peer, error)
	// Find returns a session by its id, a unique prefix of it or its title, or hermes.ErrNotFound.
	Find(ctx context.Context, ref string) (hermes.Peer, error)
	// Said returns the newest message of a session that the program did not send.
	Said(ctx context.Context, session string) (hermes.Message, error)
	// Send brings a message to a session, which is opened unless it is live, and returns when it is
	// stored there. The channel gets one answer, when the turn of the message is over. That goes
	// on when ctx ends; end stops it, if this message opened the session.
	Send(ctx context.Context, m hermes.PeerMessage) (answer <-chan hermes.PeerAnswer, end func(), err error)
}

// Config is what the toolset works with.
type Config struct {
	// Peers is called at the first use.
	Peers func(ctx context.Context) (Peers, error)
	// Beyond returns the tools that one stored run gets, now or later, and another does not. calls
	// reports whether the session of that one can call a tool now.
	Beyond func(ctx context.Context, run, other hermes.StoredRun, calls func(tool string) bool) ([]string, error)
	Now    func() time.Time // nil is time.Now
}

// Toolset is the two tools. It may be used concurrently.
type Toolset struct {
	cfg Config

	mu    sync.Mutex
	sent  map[string][]time.Time // by session, the messages of the last minute
	asked map[pair]bool          // the exchanges that go on; true if the first waits
}

// pair is a session and the one that it asked.
type pair struct{ from, to string }

var _ hermes.Toolset = (*Toolset)(nil)

// New makes the toolset.
func New(cfg Config) *Toolset {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Toolset{cfg: cfg, sent: map[string][]time.Time{}, asked: map[pair]bool{}}
}

// Name is "sessions".
func (t *Toolset) Name() string { return "sessions" }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

// Tools returns the two tools.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{t.list(), t.send()}, nil
}
