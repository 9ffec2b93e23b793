// Package sessionsearch is the toolset with the tool session_search, which
// searches and reads the store's transcripts. It calls no model.
//
// The arguments select one of four modes: discover (a query), scroll (a session
// and a message), read (a session) and browse (none). Messages hidden by
// compaction are found and read like all others. Start at session_search.go.
// message.go decides how much of a message is shown.
package sessionsearch

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"hermes"
)

// Store is what the tool reads. hermes.Store implements it.
type Store interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	ListSessions(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error)
	Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
	Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error)
}

// Toolset holds the tool session_search. It may be used concurrently.
type Toolset struct {
	store func(ctx context.Context) (Store, error)
	now   func() time.Time
}

// New makes the toolset over a store that is opened on demand.
// now is the clock; nil is time.Now.
func New(store func(ctx context.Context) (Store, error), now func() time.Time) *Toolset {
	if now == nil {
		now = time.Now
	}
	return &Toolset{store: store, now: now}
}

// Name is "session_search".
func (t *Toolset) Name() string { return "session_search" }

// Available always returns "".
func (t *Toolset) Available(context.Context) string { return "" }

//go:embed session_search.md
var doc string

// Tools returns the tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: "session_search", Description: strings.TrimSpace(doc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
		Trusted: true, // each result reports its own provenance
	}, t.run)}, nil
}
