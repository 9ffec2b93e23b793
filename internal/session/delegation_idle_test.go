package session_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/hook"
	"hermes/internal/session"
)

// TestAResultThatComesAsASessionRestsStartsNoTurn: the session is closed for idleness while the report of a task in
// the background is made. The result waits for the next time that the session is opened.
func TestAResultThatComesAsASessionRestsStartsNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		memory, refused := hermestest.NewStore(), make(chan struct{}, 8)
		slow, entered, leave := gate("slow")
		h := newFixture(t, obedient(polite), newToolTable(tasks(), slow), func(c *session.Config) { c.Store = full{memory, refused} })
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say(tasksOf(true, "slow")))
		<-entered
		until[hermes.TurnDone](e)
		close(leave)
		<-refused // the child has ended, and its result could not be stored
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		var asked atomic.Int32
		counting := func(said string, last hermes.Message) hermestest.Step {
			asked.Add(1)
			return polite(said, last)
		}
		made := make(chan struct{})
		next := newFixture(t, obedient(counting), newToolTable(tasks(), slow), func(c *session.Config) {
			c.Store, c.IdleAfter = memory, time.Minute
			c.Children.Cost = func(context.Context, string) hermes.Money {
				<-made
				return 0
			}
			newRuntime := c.NewRuntime
			c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
				r, err := newRuntime(ctx, run)
				r.Hooks = hook.New(nil, hermes.Hook{Name: "slow", ChildEnd: func(context.Context, hermes.SessionRef, hermes.Report) {
					time.Sleep(time.Second) // a turn would begin meanwhile
				}})
				return r, err
			}
		})
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		time.Sleep(2 * time.Minute) // of the bubble's clock
		close(made)
		<-s.Done()
		if got := asked.Load(); got != 0 {
			t.Errorf("the model was asked %d times while the session was closing", got)
		}
		if waiting, err := memory.WaitingMessages(t.Context(), s.ID()); err != nil || len(waiting) != 1 {
			t.Errorf("%d messages wait, %v", len(waiting), err)
		}
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e = listen(t, s)
		submit(t, s, say("hello"))
		until[hermes.TurnDone](e)
		until[hermes.TurnDone](e) // that of the result
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := results(t, memory, s.ID()); len(got) != 1 {
			t.Errorf("the result came %d times", len(got))
		}
	})
}
