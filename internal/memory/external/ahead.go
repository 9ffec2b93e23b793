package external

import (
	"context"
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
)

// maxAhead is how many sessions' prefetched memories are kept.
const maxAhead = 100

// ahead fetches from a slow service for the next turn while the user reads the answer. A
// Recall that the service does not answer in half of its time returns what was fetched,
// about the turn before: the next message is mostly about the same. A service that is fast
// is never asked ahead.
type ahead struct {
	hermes.MemoryProvider

	mu       sync.Mutex
	sessions *lru.Map[string, *prefetched]
}

// prefetched is what is known of one session.
type prefetched struct {
	slow    bool // the last Recall was late
	found   hermes.Recalled
	present bool
}

func newAhead(p hermes.MemoryProvider) *ahead {
	return &ahead{MemoryProvider: p, sessions: lru.New[string, *prefetched](maxAhead)}
}

// Recall asks the service, and returns what was fetched if that takes too long.
func (a *ahead) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	type answer struct {
		found hermes.Recalled
		err   error
	}
	done := make(chan answer, 1)
	go func() { // ends with ctx; the channel holds its answer
		found, err := a.MemoryProvider.Recall(ctx, q)
		done <- answer{found, err}
	}()
	late := make(<-chan time.Time)
	if until, ok := ctx.Deadline(); ok {
		timer := time.NewTimer(time.Until(until) / 2)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case got := <-done:
		a.change(q.Session.ID, func(p *prefetched) { p.slow, p.present = false, false })
		return got.found, got.err
	case <-late:
	case <-ctx.Done():
	}
	var known prefetched
	a.change(q.Session.ID, func(p *prefetched) {
		known = *p
		p.slow, p.present = true, false
	})
	if known.present {
		return known.found, nil
	}
	got := <-done
	return got.found, got.err
}

// Observe passes a turn on, and fetches for the next one if the service is slow.
func (a *ahead) Observe(ctx context.Context, t hermes.MemoryTurn) error {
	err := a.MemoryProvider.Observe(ctx, t)
	slow := false
	a.change(t.Session.ID, func(p *prefetched) { slow = p.slow })
	if err != nil || !slow {
		return err
	}
	found, err := a.MemoryProvider.Recall(ctx, hermes.RecallQuery{Session: t.Session, Text: t.Said})
	if err != nil {
		return err
	}
	a.change(t.Session.ID, func(p *prefetched) { p.found, p.present = found, true })
	return nil
}

func (a *ahead) change(session string, f func(*prefetched)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(a.sessions.Make(session, func() *prefetched { return &prefetched{} }))
}
