package web

import (
	"context"
	"fmt"
	"sync"
	"time"

	"hermes/internal/lru"
	"hermes/internal/websearch"
)

const (
	maxAnswers = 256
	// maxKept bounds the texts of all answers that are kept, in bytes.
	maxKept = 8 << 20
	// endTime is how long a call that was stopped waits for the end of its request.
	endTime = 500 * time.Millisecond
)

// answer is the result of one request, which several calls may share. It is not changed.
type answer struct {
	hits    []websearch.Hit // of a search
	page    page            // of a page
	backend string          // who answered
	notes   []string        // who did not, and why
	at      time.Time
	private bool // must not be kept
}

func (a *answer) size() int {
	n := len(a.page.title) + len(a.page.text)
	for _, h := range a.hits {
		n += len(h.Title) + len(h.URL) + len(h.Description)
	}
	return n
}

// answers keeps answers for a while, and lets calls that ask the same at the same time share one request.
type answers struct {
	ttl time.Duration
	now func() time.Time

	mu      sync.Mutex
	kept    *lru.Map[string, *answer]
	bytes   int
	flights map[string]*flight
}

// flight is a request that runs.
type flight struct {
	done    chan struct{} // closed at the end
	waiting int           // calls that wait for it
	cancel  context.CancelFunc
	answer  *answer
	err     error
}

func newAnswers(ttl time.Duration, now func() time.Time) *answers {
	return &answers{ttl: ttl, now: now, kept: lru.New[string, *answer](maxAnswers), flights: map[string]*flight{}}
}

// get returns the answer that a key names: one that is kept, that of a request which runs, or that of
// ask. A call that ends early does not end the request of the others; the last one does.
func (a *answers) get(ctx context.Context, key string, ask func(context.Context) (*answer, error)) (*answer, error) {
	a.mu.Lock()
	if found, ok := a.kept.Get(key); ok {
		if a.now().Sub(found.at) < a.ttl {
			a.mu.Unlock()
			return found, nil
		}
		a.drop(key)
	}
	f := a.flights[key]
	if f == nil {
		inner, cancel := context.WithCancel(context.WithoutCancel(ctx))
		f = &flight{done: make(chan struct{}), cancel: cancel}
		a.flights[key] = f
		go a.run(inner, key, f, ask)
	}
	f.waiting++
	a.mu.Unlock()
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
	}
	a.mu.Lock()
	f.waiting--
	last := f.waiting == 0
	if last && a.flights[key] == f {
		delete(a.flights, key) // who asks now begins another one
	}
	a.mu.Unlock()
	if last {
		f.cancel()
		select {
		case <-f.done:
		case <-time.After(endTime):
		}
	}
	return nil, context.Cause(ctx)
}

// run makes the request of a flight, and keeps its answer.
func (a *answers) run(ctx context.Context, key string, f *flight, ask func(context.Context) (*answer, error)) {
	defer f.cancel()
	defer close(f.done)
	defer func() {
		if p := recover(); p != nil {
			f.err = fmt.Errorf("the request failed by a mistake in the program: %v", p)
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.flights[key] == f {
			delete(a.flights, key)
		}
		if f.err == nil && !f.answer.private {
			a.keep(key, f.answer)
		}
	}()
	if f.answer, f.err = ask(ctx); f.err == nil {
		f.answer.at = a.now()
	}
}

// keep keeps an answer, and forgets others if it is too much.
func (a *answers) keep(key string, one *answer) {
	size := one.size()
	if a.ttl <= 0 || size > maxKept/2 {
		return
	}
	a.drop(key)
	for a.bytes+size > maxKept || a.kept.Len() >= maxAnswers {
		oldest := ""
		for k := range a.kept.All() { // the last one used first
			oldest = k
		}
		a.drop(oldest)
	}
	a.kept.Put(key, one)
	a.bytes += size
}

func (a *answers) drop(key string) {
	if one, ok := a.kept.Get(key); ok {
		a.bytes -= one.size()
		a.kept.Delete(key)
	}
}
