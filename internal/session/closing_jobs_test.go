package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// summed sets the SumUp of a fixture's sessions.
func summed(do func(ctx context.Context, model string, transcript []hermes.Message) error) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if runtime != nil {
				runtime.Jobs = append(runtime.Jobs, jobs.Summary(do))
			}
			return runtime, err
		}
	}
}

// exchange submits so many messages and waits for each turn's end.
func exchange(t *testing.T, s *session.Session, times int) {
	t.Helper()
	e := listen(t, s)
	for range times {
		submit(t, s, say("and now"))
		until[hermes.TurnDone](e)
	}
}

func TestLongSessionsAreSummarized(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open  session.Open
		turns int
		again int // in the same session, resumed
		fails bool
		want  int
	}{
		"a longer talk":                     {session.Open{From: hermes.From{Attends: true}}, 3, 0, false, 1},
		"a short talk":                      {session.Open{From: hermes.From{Attends: true}}, 2, 0, false, 0},
		"unattended":                        {session.Open{}, 4, 0, false, 0},
		"a talk that goes on":               {session.Open{From: hermes.From{Attends: true}}, 3, 1, false, 2},
		"a look into an old talk":           {session.Open{From: hermes.From{Attends: true}}, 3, 0, false, 1},
		"a model that cannot be asked":      {session.Open{From: hermes.From{Attends: true}}, 3, 0, true, 0},
		"a short talk that became a longer": {session.Open{From: hermes.From{Attends: true}}, 2, 1, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var notify [][]hermes.Message
			script := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three"), hermestest.Say("four"))
			h := newFixture(t, script, newToolTable(), summed(func(_ context.Context, _ string, list []hermes.Message) error {
				notify = append(notify, list)
				return errors.New("only logged")
			}))
			s := h.open(t, c.open)
			exchange(t, s, c.turns)
			if c.fails {
				script.Add(hermestest.Step{Err: &hermes.ModelError{Class: hermes.ClassAuth, Message: "no such key"}})
				exchange(t, s, 2) // the fourth is answered, the fifth fails
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			c.open.Run.Session = s.ID()
			s = h.open(t, c.open)
			exchange(t, s, c.again)
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if len(notify) != c.want {
				t.Errorf("summarized %d times, want %d", len(notify), c.want)
			}
			for _, list := range notify {
				if len(list) < 6 {
					t.Errorf("summarized %d messages", len(list))
				}
			}
		})
	}
}

func TestClosingDoesNotWaitForTheSummary(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cut := make(chan struct{})
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three")), newToolTable(),
			summed(func(ctx context.Context, _ string, _ []hermes.Message) error {
				<-ctx.Done() // a service that does not answer
				close(cut)
				return ctx.Err()
			}))
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		exchange(t, s, 3)
		start := time.Now()
		if err := s.Close(); err != nil || time.Since(start) > 0 {
			t.Errorf("closing the session took %v, %v", time.Since(start), err)
		}
		if err := h.Close(); err != nil || time.Since(start) > 5*time.Second {
			t.Errorf("the end took %v, %v", time.Since(start), err)
		}
		<-cut
	})
}
