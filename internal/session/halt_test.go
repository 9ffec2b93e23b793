package session_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
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

// slowToStop is a job that ends 3 s after it was stopped.
type slowToStop struct{}

func (slowToStop) Rest(_ jobs.Snapshot, done *hermes.TurnDone) *jobs.Task {
	if done == nil {
		return nil
	}
	return &jobs.Task{Late: true, Run: func(ctx context.Context, _ jobs.Snapshot) func(jobs.Session) {
		<-ctx.Done()
		time.Sleep(3 * time.Second)
		return nil
	}}
}

func (slowToStop) End(jobs.Snapshot, bool) *jobs.Final { return nil }

// TestAHaltReturnsWhenJobsHaveEnded, and says so if they have not.
func TestAHaltReturnsWhenJobsHaveEnded(t *testing.T) {
	t.Parallel()
	for patience, want := range map[time.Duration]error{time.Minute: nil, time.Second: context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, hermestest.NewScript(hermestest.Say("one")), newToolTable(),
				with(func(_ hermes.RunSpec, r *session.Runtime) { r.Jobs = []jobs.Job{slowToStop{}} }))
			turnOf(t, h.open(t, session.Open{}), say("go"))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			start := time.Now()
			_, err := h.Halt(ctx)
			if took := time.Since(start); !errors.Is(err, want) || took != min(patience, 3*time.Second) {
				t.Errorf("after %v: %v, want %v", took, err, want)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAHaltSaysWhatStillRuns: what commands left running and does not end is an error of the halt, of live sessions and of
// those that have ended.
func TestAHaltSaysWhatStillRuns(t *testing.T) {
	t.Parallel()
	left := errors.New("2 processes that a command left running do not end")
	var ended atomic.Int64
	h := newFixture(t, stuck{}, newToolTable(), func(c *session.Config) {
		c.EndLeft = func() error { ended.Add(1); return left }
		build := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			r, err := build(ctx, run)
			if err == nil {
				r.EndLeft = func() error { ended.Add(10); return left }
			}
			return r, err
		}
	})
	if _, err := h.Halt(t.Context()); !errors.Is(err, left) || ended.Load() != 1 {
		t.Errorf("without sessions: %v, %d", err, ended.Load())
	}
	s, err := h.Open(t.Context(), session.Open{})
	if err == nil {
		err = s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "go"}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Halt(t.Context()); !errors.Is(err, left) || ended.Load() != 12 {
		t.Errorf("with one: %v, %d", err, ended.Load())
	}
}
