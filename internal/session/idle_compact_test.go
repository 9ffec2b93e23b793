package session_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/contextengine"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// idling gives a fixture's sessions a context engine that is asked after ten minutes
// without a turn.
func idling(sum contextengine.Summarize) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if err == nil {
				runtime.Context = contextengine.New(contextengine.Options{Summarize: sum})
				runtime.Window = func(string) int { return 100_000 }
				runtime.Jobs = append(runtime.Jobs, jobs.Compaction(runtime.Context, nil, 10*time.Minute, quietLog))
			}
			return runtime, err
		}
	}
}

// long is a session of twenty exchanges, 40,000 tokens by the provider's count.
func long(t *testing.T, h *fixture, m *hermestest.Script) (*session.Session, *ear) {
	t.Helper()
	for range 20 {
		m.Add(answer("an answer "+strings.Repeat("word ", 1600), 40_000))
	}
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for range 20 {
		submit(t, s, say("go on"))
		until[hermes.TurnDone](e)
	}
	return s, e
}

func compacted(e *ear) (n int) {
	for {
		select {
		case ev := <-e.events:
			e.heard = append(e.heard, ev)
			continue
		default:
		}
		break
	}
	for _, ev := range e.heard {
		if _, ok := ev.(hermes.Compacted); ok {
			n++
		}
	}
	return n
}

func TestAnIdleSessionIsCompactedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := hermestest.NewScript()
		var asked atomic.Int32
		h := newFixture(t, m, newToolTable(), idling(func(context.Context, int64, string, int) (string, error) {
			asked.Add(1)
			return "THE SUMMARY", nil
		}))
		s, e := long(t, h, m)
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if asked.Load() > 0 || compacted(e) > 0 {
			t.Error("compacted too early")
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if asked.Load() != 1 || compacted(e) != 1 {
			t.Errorf("asked %d times, compacted %d times", asked.Load(), compacted(e))
		}
		short := stored(t, h.store, s.ID())
		if all := strings.Join(short, "\n"); len(short) > 20 || !strings.Contains(all, "THE SUMMARY") {
			t.Errorf("%d messages are stored", len(short))
		}
		m.Add(answer("after", 5_000))
		submit(t, s, say("and now?"))
		synctest.Wait()
		last := m.Requests()[len(m.Requests())-1]
		if n := len(last.Messages); n != len(short)+1 || last.Messages[n-1].Text() != "and now?" {
			t.Errorf("the next request has %d messages, want %d", n, len(short)+1)
		}
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if asked.Load() != 1 {
			t.Error("a short session was compacted again")
		}
	})
}

// TestWhatComesNextStopsTheCompaction: whatever uses the transcript while a summary is
// written ends it at once, and nothing of it remains.
func TestWhatComesNextStopsTheCompaction(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(t *testing.T, s *session.Session, m *hermestest.Script){
		"a message": func(t *testing.T, s *session.Session, m *hermestest.Script) {
			m.Add(answer("after", 5_000))
			submit(t, s, say("and now?"))
			synctest.Wait()
			if n := len(m.Requests()[len(m.Requests())-1].Messages); n != 41 {
				t.Errorf("the request has %d messages, want all 41", n)
			}
		},
		"a stop":        func(t *testing.T, s *session.Session, _ *hermestest.Script) { submit(t, s, hermes.Stop{}) },
		"an undo":       func(t *testing.T, s *session.Session, _ *hermestest.Script) { submit(t, s, hermes.Undo{}) },
		"a compression": func(t *testing.T, s *session.Session, _ *hermestest.Script) { submit(t, s, hermes.Compress{}) },
		"the end":       func(t *testing.T, s *session.Session, _ *hermestest.Script) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := hermestest.NewScript()
				var begun, stopped atomic.Int32
				h := newFixture(t, m, newToolTable(), idling(func(ctx context.Context, _ int64, _ string, _ int) (string, error) {
					if begun.Add(1) > 1 {
						return "ON DEMAND", nil
					}
					<-ctx.Done()
					stopped.Add(1)
					return "TOO LATE", nil
				}))
				s, e := long(t, h, m)
				before := stored(t, h.store, s.ID())
				time.Sleep(11 * time.Minute)
				synctest.Wait()
				if begun.Load() != 1 || stopped.Load() != 0 {
					t.Fatalf("%d summaries began, %d were stopped", begun.Load(), stopped.Load())
				}
				next(t, s, m)
				if name == "the end" && stopped.Load() != 1 {
					t.Error("the session ended before the job that uses what it frees")
				}
				synctest.Wait()
				if stopped.Load() != 1 {
					t.Error("the summary was not stopped")
				}
				after := stored(t, h.store, s.ID())
				if strings.Contains(strings.Join(after, "\n"), "TOO LATE") {
					t.Error("what was stopped is stored")
				}
				want := map[string]int{"a message": 2, "an undo": -2}[name]
				if name != "a compression" && (len(after) != len(before)+want || compacted(e) > 0) {
					t.Errorf("%d messages became %d, %d compactions", len(before), len(after), compacted(e))
				}
			})
		})
	}
}

func TestNoCompactionOfASessionThatIsNotIdle(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(t *testing.T, s *session.Session, m *hermestest.Script, entered, release chan struct{}){
		"a turn runs": func(t *testing.T, s *session.Session, m *hermestest.Script, entered, release chan struct{}) {
			m.Add(hermestest.CallTool("gate", "{}"), answer("done", 40_000))
			submit(t, s, say("work"))
			<-entered
			time.Sleep(time.Hour)
			synctest.Wait()
			close(release)
			synctest.Wait()
			time.Sleep(9 * time.Minute) // the clock begins with the end of the turn
			synctest.Wait()
		},
		"the last turn failed": func(t *testing.T, s *session.Session, m *hermestest.Script, _, _ chan struct{}) {
			m.Add(hermestest.Step{Err: &hermes.ModelError{Class: hermes.ClassAuth, Message: "no"}})
			submit(t, s, say("work"))
			synctest.Wait()
			time.Sleep(time.Hour)
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := hermestest.NewScript()
				var asked atomic.Int32
				tool, entered, release := gate("gate")
				h := newFixture(t, m, newToolTable(tool), idling(func(context.Context, int64, string, int) (string, error) {
					asked.Add(1)
					return "THE SUMMARY", nil
				}))
				s, e := long(t, h, m)
				play(t, s, m, entered, release)
				if asked.Load() > 0 || compacted(e) > 0 {
					t.Error("compacted")
				}
			})
		})
	}
}

// TestAResumedSessionIsCompactedToo: a session that was opened again and then left alone.
func TestAResumedSessionIsCompactedToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := hermestest.NewScript()
		var asked atomic.Int32
		sum := func(context.Context, int64, string, int) (string, error) { asked.Add(1); return "THE SUMMARY", nil }
		h := newFixture(t, m, newToolTable(), idling(sum))
		s, _ := long(t, h, m)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := listen(t, s)
		time.Sleep(11 * time.Minute)
		synctest.Wait()
		if asked.Load() != 1 || compacted(e) != 1 {
			t.Errorf("asked %d times, compacted %d times", asked.Load(), compacted(e))
		}
	})
}

// engine is a context engine that records what it is asked.
type engine struct{ asked chan hermes.ContextUsage }

func (engine) Name() string { return "engine" }

func (e engine) Fit(_ context.Context, _ []hermes.Message, u hermes.ContextUsage) (hermes.CompactResult, error) {
	e.asked <- u
	return hermes.CompactResult{}, nil
}

// TestWindowIsFilledByOneAttempt has a service fail before it answers: the prompt of
// both attempts is counted, and is in the window once.
func TestWindowIsFilledByOneAttempt(t *testing.T) {
	t.Parallel()
	e := engine{make(chan hermes.ContextUsage, 8)}
	m := hermestest.NewScript(hermestest.Step{Text: "one", Usage: &hermes.Usage{Input: 80_000, Output: 20, Calls: 2}})
	h := newFixture(t, m, newToolTable(), func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if err == nil {
				runtime.Context = e
			}
			return runtime, err
		}
	})
	s := h.open(t, session.Open{})
	heard := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](heard)
	submit(t, s, hermes.Compress{})
	until[hermes.TurnDone](heard)
	for u := range e.asked {
		if !u.Demand {
			continue // before the step
		}
		if u.Used != 40_010 || u.Counted != 2 {
			t.Errorf("used %d by %d messages, want 40010 by 2", u.Used, u.Counted)
		}
		return
	}
}
