package external

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
)

// slowService answers after a time that a test sets, with the text it was asked about.
type slowService struct {
	hermes.MemoryProvider
	takes time.Duration

	mu    sync.Mutex
	asked []string
}

func (s *slowService) Recall(ctx context.Context, q hermes.RecallQuery) (hermes.Recalled, error) {
	s.mu.Lock()
	s.asked = append(s.asked, q.Text)
	takes := s.takes
	s.mu.Unlock()
	select {
	case <-time.After(takes):
		return hermes.Recalled{Text: "about " + q.Text}, nil
	case <-ctx.Done():
		return hermes.Recalled{}, ctx.Err()
	}
}

func (s *slowService) set(takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes = takes
}

func (s *slowService) Observe(context.Context, hermes.MemoryTurn) error { return nil }

// TestSlowMemoryFetchesWhileTheUserReads has a service that takes longer than a turn
// waits.
func TestSlowMemoryFetchesWhileTheUserReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowService{takes: 5 * time.Second}
		a := newAhead(s)
		ref := hermes.SessionRef{ID: "s"}
		recall := func(text, want string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			synctest.Wait()
			if got, _ := a.Recall(ctx, hermes.RecallQuery{Session: ref, Text: text}); got.Text != want {
				t.Errorf("%s: recalled %q, want %q", text, got.Text, want)
			}
		}
		observe := func(text string) {
			t.Helper()
			if err := a.Observe(t.Context(), hermes.MemoryTurn{Session: ref, Said: text}); err != nil {
				t.Error(err)
			}
		}
		recall("one", "")
		observe("one")
		began := time.Now()
		recall("two", "about one")
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("waited %v", waited)
		}
		recall("two again", "") // what was fetched is used once
		observe("two again")
		s.set(time.Millisecond)
		recall("three", "about three")
		n := len(s.asked)
		observe("three")
		if len(s.asked) != n {
			t.Errorf("a fast service was asked ahead: %q", s.asked)
		}
		s.set(5 * time.Second)
		recall("four", "") // what was fetched before the service was fast is gone
		time.Sleep(time.Minute)
	})
}
