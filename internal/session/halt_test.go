package session_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// stuck is a model that answers only when it is stopped.
type stuck struct{}

func (stuck) ID() string { return "test:stuck" }

func (stuck) Stream(ctx context.Context, _ *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		<-ctx.Done()
		var none hermes.Delta
		yield(none, context.Cause(ctx))
	}
}

// TestNothingBeginsBesideAHalt: whatever begins at the same moment is stopped or refused.
func TestNothingBeginsBesideAHalt(t *testing.T) {
	t.Parallel()
	for range 20 {
		var set atomic.Bool
		h := newFixture(t, stuck{}, newToolTable(), func(c *session.Config) {
			c.Halted = func() error {
				if set.Load() {
					return hermes.ErrHalted
				}
				return nil
			}
		})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := h.Open(t.Context(), session.Open{})
				if err == nil {
					err = s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "go"}}})
				}
				if err != nil && !errors.Is(err, hermes.ErrHalted) && !errors.Is(err, hermes.ErrInterrupted) {
					t.Error(err)
				}
			})
		}
		set.Store(true)
		if _, err := h.Halt(t.Context()); err != nil {
			t.Error(err)
		}
		wg.Wait()
		for _, s := range h.Live() {
			if s.Running().State != "" && s.Running().State != protocol.StateIdle {
				t.Errorf("session %s is %s after the halt", s.ID(), s.Running().State)
			}
		}
		if _, err := h.Open(t.Context(), session.Open{}); !errors.Is(err, hermes.ErrHalted) {
			t.Errorf("a session opened: %v", err)
		}
	}
}
