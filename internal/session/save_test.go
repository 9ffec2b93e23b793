package session_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/session/jobs"
)

// withRuntime changes the runtime of a fixture's sessions.
func withRuntime(change func(*session.Runtime)) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			if runtime != nil {
				change(runtime)
			}
			return runtime, err
		}
	}
}

// reviewer is a jobs.Reviewer of funcs; nil ones do nothing.
type reviewer struct {
	due    bool
	review func(ctx context.Context, c jobs.Conversation, asked bool) (string, error)
	save   func(ctx context.Context, c jobs.Conversation, cut bool) error
}

func (r reviewer) Due(context.Context, jobs.Conversation) bool { return r.due }

func (r reviewer) Review(ctx context.Context, c jobs.Conversation, asked bool) (string, error) {
	if r.review == nil {
		return "", nil
	}
	return r.review(ctx, c, asked)
}

func (r reviewer) Save(ctx context.Context, c jobs.Conversation, cut bool) error {
	if r.save == nil {
		return nil
	}
	return r.save(ctx, c, cut)
}

// quietLog discards.
var quietLog = slog.New(slog.DiscardHandler)

func says(n int) (out []hermestest.Step) {
	for range n {
		out = append(out, hermestest.Say("answer"))
	}
	return out
}

func TestAReviewWaitsUntilTheUserPauses(t *testing.T) {
	t.Parallel()
	const quiet = 10 * time.Second
	for name, c := range map[string]struct {
		pauses []time.Duration // after each turn
		maxAge time.Duration
		due    bool
		want   []int // turns that are over at each review
	}{
		"after a pause":              {[]time.Duration{quiet}, 0, true, []int{1}},
		"once, at the end of a rush": {[]time.Duration{time.Second, time.Second, quiet}, 0, true, []int{3}},
		"not for ever":               {[]time.Duration{9 * time.Second, 9 * time.Second, 9 * time.Second, 0}, 20 * time.Second, true, []int{4}},
		"again when due again":       {[]time.Duration{quiet, quiet}, 0, true, []int{1, 2}},
		"not when it is not due":     {[]time.Duration{quiet, quiet}, 0, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				over := 0
				var got []int
				h := newFixture(t, hermestest.NewScript(says(len(c.pauses))...), newToolTable(), withRuntime(func(g *session.Runtime) {
					g.Jobs = append(g.Jobs, jobs.Review(reviewer{
						due: c.due,
						review: func(context.Context, jobs.Conversation, bool) (string, error) {
							got = append(got, over)
							return "", nil
						},
					}, jobs.Defer{Quiet: quiet, MaxAge: c.maxAge}, time.Now, quietLog))
				}))
				s := h.open(t, session.Open{From: hermes.From{Attends: true}})
				e := listen(t, s)
				for _, p := range c.pauses {
					over++
					submit(t, s, say("and now"))
					until[hermes.TurnDone](e)
					time.Sleep(p)
					synctest.Wait()
				}
				if len(got) != len(c.want) {
					t.Fatalf("reviewed after turns %v, want %v", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Errorf("reviewed after turns %v, want %v", got, c.want)
					}
				}
				if err := h.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestEndedSessionsAreReviewed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open    session.Open
		turns   int
		waits   bool // a review is due and deferred
		blocks  bool // a review is running
		fails   bool
		saved   int
		withCut bool
	}{
		"a talk":                       {open: session.Open{From: hermes.From{Attends: true}}, turns: 2, saved: 1},
		"one with a review that waits": {open: session.Open{From: hermes.From{Attends: true}}, turns: 1, waits: true, saved: 1, withCut: true},
		"one with a review cut off":    {open: session.Open{From: hermes.From{Attends: true}}, turns: 1, blocks: true, saved: 1, withCut: true},
		"unattended":                   {open: session.Open{}, turns: 2},
		"nothing was said":             {open: session.Open{From: hermes.From{Attends: true}}},
		"no model could be asked":      {open: session.Open{From: hermes.From{Attends: true}}, turns: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			saved, cut := 0, false
			begun := make(chan struct{}, 4)
			script := hermestest.NewScript(says(c.turns)...)
			h := newFixture(t, script, newToolTable(), withRuntime(func(g *session.Runtime) {
				var wait jobs.Defer
				if c.waits {
					wait.Quiet = time.Hour
				}
				g.Jobs = append(g.Jobs, jobs.Review(reviewer{
					due: c.waits || c.blocks,
					review: func(ctx context.Context, _ jobs.Conversation, _ bool) (string, error) {
						begun <- struct{}{}
						<-ctx.Done()
						return "", ctx.Err()
					},
					save: func(_ context.Context, ended jobs.Conversation, wasCut bool) error {
						saved, cut = saved+1, wasCut
						if ended.Session.ID == "" || len(ended.Transcript) != 2*c.turns {
							t.Errorf("saved %q with %d messages", ended.Session.ID, len(ended.Transcript))
						}
						return errors.New("only logged")
					},
				}, wait, time.Now, quietLog))
			}))
			s := h.open(t, c.open)
			exchange(t, s, c.turns)
			if c.fails {
				script.Add(hermestest.Step{Err: &hermes.ModelError{Class: hermes.ClassAuth, Message: "no such key"}})
				exchange(t, s, 1)
			}
			if c.blocks {
				<-begun
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if err := h.Close(); err != nil {
				t.Fatal(err)
			}
			if saved != c.saved || cut != c.withCut {
				t.Errorf("saved %d times, cut %v", saved, cut)
			}
		})
	}
}

func TestClosingDoesNotWaitForTheFinalReview(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stays time.Duration // of the program, after the session
		begun bool          // in time
		end   time.Duration // of the program, at most
	}{
		"left at once":          {0, false, 0},
		"another session after": {time.Minute, true, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				saved, begun := 0, false
				h := newFixture(t, hermestest.NewScript(says(1)...), newToolTable(), withRuntime(func(g *session.Runtime) {
					g.Jobs = append(g.Jobs, jobs.Review(reviewer{save: func(ctx context.Context, _ jobs.Conversation, _ bool) error {
						saved, begun = saved+1, ctx.Err() == nil
						<-ctx.Done() // a service that does not answer
						return ctx.Err()
					}}, jobs.Defer{}, time.Now, quietLog))
				}))
				s := h.open(t, session.Open{From: hermes.From{Attends: true}})
				exchange(t, s, 1)
				start := time.Now()
				if err := s.Close(); err != nil || time.Since(start) > 0 {
					t.Errorf("closing the session took %v, %v", time.Since(start), err)
				}
				time.Sleep(c.stays)
				start = time.Now()
				if err := h.Close(); err != nil || time.Since(start) > c.end {
					t.Errorf("the end took %v, %v", time.Since(start), err)
				}
				if saved != 1 || begun != c.begun {
					t.Errorf("saved %d times, in time %v", saved, begun)
				}
			})
		})
	}
}
