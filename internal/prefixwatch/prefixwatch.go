// Package prefixwatch checks that each request of a session begins with the
// one before it. A provider's cache makes repeated input much cheaper, but only
// as far as the next request begins with the same bytes. Each break is
// reported with the section and the bytes that changed.
//
// A [Watch] wraps models and does not change requests. It keeps the last
// request of a few sessions and compares the parts. A transcript only grows,
// and the kept request shares its texts, so this takes little memory. Texts at
// the same address are equal and need no comparison.
//
// Start at Watch.Models, then compare.go.
package prefixwatch

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
)

// maxSessions is how many sessions are kept. The one whose last request is
// oldest is dropped first.
const maxSessions = 32

// Watch keeps the last request of each session and reports breaks. It may be
// used concurrently.
type Watch struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	seen *lru.Map[string, *session]
}

// session is what a Watch keeps about a session.
type session struct {
	requests int
	breaks   int
	expected string // the cause of the next break
	model    string
	last     hermes.Request // shares slices and texts with the session
	broken   *hermes.PrefixBreak
}

// New returns a watch. A nil log discards; a nil now is time.Now.
func New(log *slog.Logger, now func() time.Time) *Watch {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if now == nil {
		now = time.Now
	}
	return &Watch{log: log, now: now, seen: lru.New[string, *session](maxSessions)}
}

// Models wraps models so that their requests are checked.
func (w *Watch) Models(next hermes.Models) hermes.Models { return watched{w, next} }

type watched struct {
	watch *Watch
	next  hermes.Models
}

func (m watched) Model(ctx context.Context, ref string) (hermes.Model, error) {
	model, err := m.next.Model(ctx, ref)
	if err != nil {
		return nil, err
	}
	return watchedModel{model, m.watch}, nil
}

type watchedModel struct {
	hermes.Model
	watch *Watch
}

// Stream checks a request of the conversation itself and sends it.
func (m watchedModel) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	if r.Purpose == "" && r.Session != "" {
		m.watch.See(m.ID(), r)
	}
	return m.Model.Stream(ctx, r)
}

// See compares a request with the one before in its session and keeps it.
func (w *Watch) See(model string, r *hermes.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.seen.Make(r.Session, func() *session { return &session{} })
	s.requests++
	if s.requests > 1 {
		w.compare(s, model, r)
	}
	s.expected, s.model = "", model
	s.last = hermes.Request{System: r.System, Tools: r.Tools, Messages: r.Messages, Session: r.Session}
}

func (w *Watch) compare(s *session, model string, r *hermes.Request) {
	b, broken := compare(&s.last, r)
	if !broken && model != s.model {
		size := length(&s.last)
		b, broken = hermes.PrefixBreak{Section: "model", Lost: size, Cause: "another model"}, true
	}
	if !broken {
		return
	}
	b.At, b.Request = w.now(), s.requests
	if s.expected != "" {
		b.Cause = s.expected
	}
	s.breaks++
	s.broken = &b
	level := slog.LevelWarn
	if b.Cause != "" {
		level = slog.LevelInfo
	}
	w.log.Log(context.Background(), level, "a request does not begin with the one before", "session", r.Session, "request", b.Request,
		"section", b.Section, "from", b.From, "to", b.To, "kept", b.Kept, "lost", b.Lost, "cause", b.Cause)
}

// Expect sets the cause of a break by the next request of a session, such as
// "compression".
func (w *Watch) Expect(id, cause string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s, ok := w.seen.Get(id); ok {
		s.expected = cause
	}
}

// Broken returns the last break of a session, and how many there were.
func (w *Watch) Broken(id string) (last *hermes.PrefixBreak, count int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s, ok := w.seen.Get(id)
	if !ok || s.broken == nil {
		return nil, 0
	}
	b := *s.broken
	return &b, s.breaks
}

// Hook forgets a session with its end.
func (w *Watch) Hook() hermes.Hook {
	return hermes.Hook{Name: "prefix", SessionEnd: func(_ context.Context, s hermes.SessionRef) { w.Forget(s.ID) }}
}

// Forget drops a session that has ended.
func (w *Watch) Forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen.Delete(id)
}
