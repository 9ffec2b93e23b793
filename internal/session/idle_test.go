package session_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// TestAnIdleSessionIsToldOfOnce: after its time without a turn, once each time it waits, and not if a turn begins before or
// if it was only opened or no user attends it.
func TestAnIdleSessionIsToldOfOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := hermestest.NewScript(answer("one", 10), answer("two", 10), answer("three", 10))
		var told atomic.Int32
		h := newFixture(t, m, newToolTable(), func(c *session.Config) {
			newRuntime := c.NewRuntime
			c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
				runtime, err := newRuntime(ctx, run)
				if err == nil {
					runtime.Jobs = append(runtime.Jobs, jobs.Idle(time.Minute, func(context.Context, hermes.SessionRef) { told.Add(1) }))
				}
				return runtime, err
			}
		})
		s := h.open(t, session.Open{})
		e := attend(t, s)
		wait := func(d time.Duration, want int32) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := told.Load(); got != want {
				t.Errorf("told %d times, want %d", got, want)
			}
		}
		wait(time.Hour, 0)
		submit(t, s, say("hello"))
		until[hermes.TurnDone](e)
		wait(59*time.Second, 0)
		submit(t, s, say("again"))
		until[hermes.TurnDone](e)
		wait(59*time.Second, 0)
		wait(time.Second, 1)
		wait(24*time.Hour, 1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		wait(time.Hour, 1)
		alone := h.open(t, session.Open{})
		e = listen(t, alone)
		submit(t, alone, say("hello"))
		until[hermes.TurnDone](e)
		wait(time.Hour, 1)
	})
}
