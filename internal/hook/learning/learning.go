// Package learning is the hook that recognises failures. It counts each failure
// by tool, kind and general message, appends the known fix to a failed result,
// and records whether the fix helped.
//
// hermes.Learnings stores the learnings, internal/errsig decides which failures
// are the same, and the tool learning saves fixes. If the store fails, only the
// hint is missing. Start at New. hint.go has the texts and decides which fixes
// are worth showing.
package learning

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/errsig"
	"hermes/internal/lru"
)

const (
	timeout = 3 * time.Second
	// maxSessions bounds the sessions that are remembered.
	maxSessions = 256
	// maxPerSession bounds the failures remembered of one session.
	maxPerSession = 200
)

// keepUnknown is how long a failure without a fix is kept after it last
// occurred, keepMost how many rows there may be. internal/learning retires
// fixes, so that they can be restored.
const (
	keepUnknown = 30 * 24 * time.Hour
	keepMost    = 1000
)

// Config configures the hook.
type Config struct {
	// Store opens the learnings.
	Store func(ctx context.Context) (hermes.Learnings, error)
	Now   func() time.Time // nil is time.Now
	Log   *slog.Logger     // nil discards
}

// New makes the hook. One serves all sessions.
func New(c Config) hermes.Hook {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	h := &hook{Config: c, sessions: lru.New[string, *seen](maxSessions)}
	return hermes.Hook{
		Name: "learning", Timeout: timeout, AfterTool: h.after,
		SessionEnd: func(_ context.Context, s hermes.SessionRef) { h.forget(s.ID) },
	}
}

type hook struct {
	Config
	tidied sync.Once

	mu       sync.Mutex
	sessions *lru.Map[string, *seen]
}

// seen is what happened in a session.
type seen struct {
	hinted map[string]bool     // by pattern: a hint was shown
	shown  map[string]shownFix // by tool: a fix whose outcome is not known yet
}

type shownFix struct {
	id      int64
	pattern string
}

// after checks a result. It counts a failure and appends the known fix. The
// result after a shown fix says whether the fix helped.
func (h *hook) after(ctx context.Context, c *hermes.Call, r *hermes.Result) {
	if c.Host == nil || skipped(c.Name) {
		return
	}
	session := c.Host.Session().ID
	fix, waiting := h.takeShown(session, c.Name)
	if !r.Failed && !waiting {
		return
	}
	var s errsig.Signature
	if r.Failed {
		s = errsig.Of(string(c.Arguments), r.Text)
	}
	if s.Pattern == "" && !waiting {
		return
	}
	store, err := h.Store(ctx)
	if err != nil {
		h.Log.Warn("open the learnings", "err", err)
		return
	}
	if waiting {
		h.outcome(ctx, store, fix, r.Failed, s.Pattern)
	}
	if s.Pattern != "" {
		h.failed(ctx, store, c, r, s)
	}
}

// skipped reports whether failures of a tool explain themselves and need no learning.
func skipped(tool string) bool {
	switch tool {
	case "learning", "memory", "clarify", "todo", "skill_manage":
		return true
	}
	return false
}

// outcome records whether a fix helped: the same failure again, or a success. A
// different failure says nothing.
func (h *hook) outcome(ctx context.Context, store hermes.Learnings, fix shownFix, failed bool, pattern string) {
	what := hermes.FixHelped
	switch {
	case failed && pattern == fix.pattern:
		what = hermes.FixFailed
	case failed:
		return
	}
	if err := store.NoteFix(ctx, fix.id, what, h.Now()); err != nil {
		h.Log.Warn("record the outcome of a fix", "err", err)
	}
}

// failed counts a failure and appends what is known about it.
func (h *hook) failed(ctx context.Context, store hermes.Learnings, c *hermes.Call, r *hermes.Result, s errsig.Signature) {
	h.tidied.Do(func() {
		now := h.Now()
		if _, err := store.ForgetLearnings(ctx, hermes.Forgetting{Unknown: now.Add(-keepUnknown), Most: keepMost}); err != nil {
			h.Log.Warn("tidy the learnings", "err", err)
		}
	})
	ref := c.Host.Session()
	l, err := store.NoteFailure(ctx, hermes.Learning{Tool: c.Name, Class: s.Class, Pattern: s.Pattern, Session: ref.ID, Touched: h.Now()})
	if err != nil {
		h.Log.Warn("count a failure", "err", err)
		return
	}
	best, exact := l, true
	if !worthShowing(l) {
		best, exact = h.known(ctx, store, l, s)
	}
	if best.Fix == "" {
		if l.Fix == "" && l.Seen >= 2 && h.first(ref.ID, s.Pattern) {
			r.Text += unknown(l)
		}
		return
	}
	if !h.first(ref.ID, best.Pattern) {
		return // the transcript already has it
	}
	times := l.Seen
	if !exact {
		times += best.Seen
	}
	r.Text += known(best, exact, times)
	h.putShown(ref.ID, c.Name, shownFix{best.ID, s.Pattern})
	if err := store.NoteFix(ctx, best.ID, hermes.FixShown, h.Now()); err != nil {
		h.Log.Warn("record that a fix was shown", "err", err)
	}
}

// known finds the fix of a failure that was saved in another form: by its message
// without the program, for any tool, with placeholders, or in other words. A result
// without a Fix means that there is none. exact says that it is the same failure.
func (h *hook) known(ctx context.Context, store hermes.Learnings, l hermes.Learning, s errsig.Signature) (best hermes.Learning, exact bool) {
	list, err := store.FindLearnings(ctx, hermes.LearningQuery{Known: true, Limit: keepMost})
	if err != nil {
		h.Log.Warn("find learnings", "err", err)
	}
	var closest errsig.Match
	highest := 0.0
	for _, other := range list {
		if other.ID == l.ID || other.Tool != "" && other.Tool != l.Tool || !worthShowing(other) {
			continue
		}
		m := s.Match(other.Pattern)
		if m == errsig.Similar && (other.Class != l.Class || weight(other, h.Now()) < leastWeight) {
			continue
		}
		if w := weight(other, h.Now()); m > closest || m == closest && m != errsig.Other && w > highest {
			best, closest, highest = other, m, w
		}
	}
	return best, closest == errsig.Exact
}

// first reports whether a session has not seen a hint for a pattern yet.
func (h *hook) first(session, pattern string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.of(session)
	if s.hinted[pattern] || len(s.hinted) >= maxPerSession {
		return false
	}
	s.hinted[pattern] = true
	return true
}

func (h *hook) putShown(session, tool string, fix shownFix) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.of(session).shown[tool] = fix
}

func (h *hook) takeShown(session, tool string) (shownFix, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.sessions.Get(session)
	if !ok {
		return shownFix{}, false
	}
	fix, ok := s.shown[tool]
	delete(s.shown, tool)
	return fix, ok
}

// of returns the state of a session. The caller holds mu.
func (h *hook) of(session string) *seen {
	return h.sessions.Make(session, func() *seen { return &seen{hinted: map[string]bool{}, shown: map[string]shownFix{}} })
}

func (h *hook) forget(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sessions.Delete(session)
}
