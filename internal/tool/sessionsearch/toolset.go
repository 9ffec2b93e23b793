// Package sessionsearch is the toolset with the tool session_search, over the
// store's search and transcripts. It asks no model.
//
// The tool has four shapes, told by its arguments: discover (a query), scroll
// (a session and a message), read (a session) and browse (nothing). What was
// compacted away is found and read like everything else. Start at
// session_search.go; message.go says how much of a message is shown.
package sessionsearch

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"hermes"
)

// Store is what the tool reads; hermes.Store has it.
type Store interface {
	FindSession(ctx context.Context, ref string) (hermes.Session, error)
	ListSessions(ctx context.Context, f hermes.SessionFilter) ([]hermes.Session, error)
	Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error)
	Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error)
}

// Toolset is the toolset. It may be used concurrently.
type Toolset struct {
	store func(ctx context.Context) (Store, error)
	now   func() time.Time
}

// New makes the toolset over a store that is opened when the tool is used.
// now is the clock; nil is time.Now.
func New(store func(ctx context.Context) (Store, error), now func() time.Time) *Toolset {
	if now == nil {
		now = time.Now
	}
	return &Toolset{store: store, now: now}
}

// Name is "session_search".
func (t *Toolset) Name() string { return "session_search" }

// Available is always the empty text.
func (t *Toolset) Available(context.Context) string { return "" }

//go:embed session_search.md
var doc string

// Tools returns the one tool.
func (t *Toolset) Tools(context.Context) ([]hermes.Tool, error) {
	return []hermes.Tool{hermes.NewTool(hermes.Spec{
		Name: "session_search", Description: strings.TrimSpace(doc), Mode: hermes.ModeParallel, Effect: hermes.EffectNone,
		Trusted: true, // what it shows says for itself whether it is
	}, t.run)}, nil
}
