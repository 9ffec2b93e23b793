// Package learning is the hook that recognises failures: it counts each by
// tool, kind and general message, appends to a failed result what helped the
// last time, and notes whether it helped again.
//
// Where learnings are kept is the matter of hermes.Learnings, what makes two
// failures the same that of internal/errsig; saving a fix is done by the tool
// learning. A store that fails costs a hint and nothing else. Start at New;
// hint.go has the words and weighs which fix is still worth showing.
package learning

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"hermes"
	"hermes/internal/errsig"
)

const (
	timeout = 3 * time.Second
	// maxSessions bounds the sessions that something is kept of.
	maxSessions = 256
	// maxPerSession bounds what is kept of one, in failures.
	maxPerSession = 200
)

// How long a failure without a fix is kept that nobody meets, and how many
// rows there may be. Fixes are retired by internal/learning, so that they can
// be had back.
const (
	keepUnknown = 30 * 24 * time.Hour
	keepMost    = 1000
)

// Config is what the hook works with.
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
	h := &hook{Config: c, sessions: map[string]*seen{}}
	return hermes.Hook{
		Name: "learning", Timeout: timeout, AfterTool: h.after,
		SessionEnd: func(_ context.Context, s hermes.SessionRef) { h.forget(s.ID) },
	}
}

type hook struct {
	Config
	tidied sync.Once

	mu       sync.Mutex
	sessions map[string]*seen
}

// seen is what happened in a session.
type seen struct {
	hinted map[string]bool     // by pattern: the model was told
	shown  map[string]shownFix // by tool: the fix whose outcome is not known
}

type shownFix struct {
	id      int64
	pattern string
}

// after looks at a result: a failure is counted and, if it is known, answered;
// what follows on a shown fix tells whether that helped.
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

// skipped are tools whose failures are told in words that need no learning.
func skipped(tool string) bool {
	switch tool {
	case "learning", "memory", "clarify", "todo", "skill_manage":
		return true
	}
	return false
}

// outcome notes what came of a fix: the same failure again, or a success. A
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
		h.Log.Warn("note what came of a fix", "err", err)
	}
}

// failed counts a failure and says what is known about it.
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
	if l.Fix == "" || !worthShowing(l) {
		best, exact = h.similar(ctx, store, l)
	}
	if best.Fix == "" {
		if l.Fix == "" && l.Seen >= 2 && h.first(ref.ID, s.Pattern) {
			r.Text += unknown(l)
		}
		return
	}
	if !h.first(ref.ID, best.Pattern) {
		return // it stands in the transcript already
	}
	times := l.Seen
	if !exact {
		times += best.Seen
	}
	r.Text += known(best, exact, times)
	h.putShown(ref.ID, c.Name, shownFix{best.ID, s.Pattern})
	if err := store.NoteFix(ctx, best.ID, hermes.FixShown, h.Now()); err != nil {
		h.Log.Warn("note that a fix was shown", "err", err)
	}
}

// similar finds a known failure of the same tool and kind that looks much the
// same; without a Fix there is none.
func (h *hook) similar(ctx context.Context, store hermes.Learnings, l hermes.Learning) (hermes.Learning, bool) {
	list, err := store.FindLearnings(ctx, hermes.LearningQuery{Tool: l.Tool, Class: l.Class, Known: true, Limit: 200})
	if err != nil {
		h.Log.Warn("find learnings", "err", err)
	}
	var best hermes.Learning
	highest := leastAlike
	for _, other := range list {
		if other.ID == l.ID || !worthShowing(other) {
			continue
		}
		if like := errsig.Alike(l.Pattern, other.Pattern) * weight(other, h.Now()); like >= highest {
			best, highest = other, like
		}
	}
	return best, false
}

// first reports whether a session has not been told of a pattern yet.
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
	s := h.sessions[session]
	if s == nil {
		return shownFix{}, false
	}
	fix, ok := s.shown[tool]
	delete(s.shown, tool)
	return fix, ok
}

// of is what is kept of a session. Hold mu.
func (h *hook) of(session string) *seen {
	s := h.sessions[session]
	if s == nil {
		if len(h.sessions) >= maxSessions {
			clear(h.sessions)
		}
		s = &seen{hinted: map[string]bool{}, shown: map[string]shownFix{}}
		h.sessions[session] = s
	}
	return s
}

func (h *hook) forget(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, session)
}
