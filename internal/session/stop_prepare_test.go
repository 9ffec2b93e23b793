package session_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/hook"
	"hermes/internal/session"
)

// TestStopWhilePreparingDropsWhatCameAfter: as a stop does while a turn runs. Whoever sent it is told.
func TestStopWhilePreparingDropsWhatCameAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 8)
		m := hermestest.NewScript(hermestest.Say("never"))
		h := newFixture(t, m, newToolTable(), slow(begun), func(c *session.Config) { c.Busy = hermes.BusyQueue })
		s := h.open(t, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "slow"}}})
		said := make(chan error, 2)
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("first")) }()
		<-begun
		go func() { said <- s.Do(context.Background(), hermes.From{}, later("second")) }()
		synctest.Wait()
		submit(t, s, hermes.Stop{})
		for range 2 {
			if err := <-said; !errors.Is(err, hermes.ErrInterrupted) {
				t.Errorf("a message: %v", err)
			}
		}
		if st, err := s.State(t.Context()); err != nil || st.Running {
			t.Errorf("running %v, %v", st.Running, err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestAStoppedQueuedMessageHasNotFailed: its turn was interrupted before it began.
func TestAStoppedQueuedMessageHasNotFailed(t *testing.T) {
	t.Parallel()
	recalling := make(chan struct{}, 8)
	hang := false
	wait, entered, leave := gate("wait")
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Say("one")), newToolTable(wait),
		with(func(_ hermes.RunSpec, r *session.Runtime) {
			r.Memory = recaller(func(ctx context.Context, _ hermes.RecallQuery) (hermes.Recalled, error) {
				if hang {
					recalling <- struct{}{}
					<-ctx.Done()
				}
				return hermes.Recalled{}, nil
			})
		}))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("first"))
	<-entered
	submit(t, s, later("second"))
	hang = true
	close(leave)
	until[hermes.TurnDone](e)
	<-recalling
	submit(t, s, hermes.Stop{})
	if done := until[hermes.TurnDone](e); done.Outcome != hermes.OutcomeInterrupted || done.Err() != nil {
		t.Errorf("done %+v", done)
	}
	wantWaiting(t, h.store, s.ID())
}

// TestARetryThatDoesNotBeginChangesNothing: the exchange is there as before.
func TestARetryThatDoesNotBeginChangesNothing(t *testing.T) {
	t.Parallel()
	no := error(nil)
	hooks := hook.New(nil, hermes.Hook{TurnStart: func(_ context.Context, _ hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
		if m.ID != 0 { // it is not stored yet, also at a retry
			t.Errorf("a hook was shown message %d", m.ID)
		}
		return nil, no
	}})
	b, use := hooked(hooks)
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three")), b, use)
	s := h.open(t, session.Open{})
	turnOf(t, s, say("first"))
	turnOf(t, s, say("second"))
	no = errors.New("not today")
	if err := s.Do(t.Context(), hermes.From{}, hermes.Retry{}); !errors.Is(err, no) {
		t.Errorf("err = %v", err)
	}
	want := []string{"user: first", "assistant: one", "user: second", "assistant: two"}
	if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
	no = nil
	turnOf(t, s, hermes.Retry{})
	want[3] = "assistant: three"
	if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
}

// TestStopEndsTheStartOfAChild: a parent that is stopped does not wait until its child has its tools.
func TestStopEndsTheStartOfAChild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		starting := make(chan struct{}, 8)
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("delegate", `{}`)), newToolTable(helper()), func(c *session.Config) {
			newRuntime := c.NewRuntime
			c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
				if run.Origin.Depth > 0 {
					starting <- struct{}{}
					select {
					case <-ctx.Done():
						return nil, context.Cause(ctx)
					case <-time.After(time.Hour):
					}
				}
				return newRuntime(ctx, run)
			}
		})
		s := h.open(t, session.Open{})
		e := listen(t, s)
		submit(t, s, say("go"))
		<-starting
		start := time.Now()
		submit(t, s, hermes.Stop{})
		until[hermes.TurnDone](e)
		if took := time.Since(start); took > time.Second {
			t.Errorf("the stop took %v", took)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestARefusalKeepsWhatWaited: the messages of an earlier process still wait when the one that they
// go with is refused.
func TestARefusalKeepsWhatWaited(t *testing.T) {
	t.Parallel()
	st := hermestest.NewStore()
	talked(t, st, "s1", 2)
	l, err := st.Acquire(t.Context(), "s1", hermes.Owner{Name: "before"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.AddWaiting(t.Context(), l, hermes.WaitingMessage{Message: hermes.UserText("early")}); err != nil {
		t.Fatal(err)
	}
	if err := st.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	no := hermes.Hook{TurnStart: func(_ context.Context, _ hermes.SessionRef, m hermes.Message) ([]hermes.Part, error) {
		if strings.Contains(m.Visible(), "secret") {
			return nil, errors.New("not today")
		}
		return nil, nil
	}}
	b, use := hooked(hook.New(nil, no))
	h := newFixture(t, hermestest.NewScript(hermestest.Say("answer")), b, use, func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	if err := s.Do(t.Context(), hermes.From{}, say("a secret")); err == nil {
		t.Error("the message was not refused")
	}
	wantWaiting(t, st, "s1", "early")
	turnOf(t, s, say("another"))
	if got := stored(t, st, "s1"); got[2] != "user: early\nanother" {
		t.Errorf("stored %q", got)
	}
}

// fullDisk is a store that fails to change rows as long as it is full.
type fullDisk struct {
	hermes.Store
	full bool
}

func (f *fullDisk) UpdateSession(ctx context.Context, id string, c hermes.SessionChange) error {
	if f.full {
		return errors.New("the disk is full")
	}
	return f.Store.UpdateSession(ctx, id, c)
}

// TestAPromptThatWasNotStoredIsNotSent: every later request must begin with the stored prompt.
func TestAPromptThatWasNotStoredIsNotSent(t *testing.T) {
	t.Parallel()
	st := &fullDisk{Store: hermestest.NewStore()}
	if err := st.CreateSession(t.Context(), hermes.Session{ID: "s1", Platform: "test", Started: time.Unix(1, 0)}); err != nil {
		t.Fatal(err)
	}
	m := hermestest.NewScript(hermestest.Say("answer"))
	h := newFixture(t, m, newToolTable(), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	st.full = true
	if err := s.Do(t.Context(), hermes.From{}, say("go")); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("err = %v", err)
	}
	st.full = false
	turnOf(t, s, say("go"))
	row, err := st.FindSession(t.Context(), "s1")
	if err != nil || row.System == "" || row.System != m.Requests()[0].System {
		t.Errorf("stored %q, sent %q, %v", row.System, m.Requests()[0].System, err)
	}
}

// TestACutTurnSurvivesACompression: it can still be continued.
func TestACutTurnSurvivesACompression(t *testing.T) {
	t.Parallel()
	b, use := hooked(nil)
	h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Fail(errors.New("down")), hermestest.Say("two")), b, use)
	s := h.open(t, session.Open{})
	e := listen(t, s)
	for _, op := range []hermes.Op{say("first"), say("second"), hermes.Compress{}} {
		submit(t, s, op)
		until[hermes.TurnDone](e)
	}
	if st, err := s.State(t.Context()); err != nil || !st.Cut {
		t.Errorf("cut %v, %v", st.Cut, err)
	}
	turnOf(t, s, hermes.Continue{})
}

// TestAnInterruptedStartIsNoStart: hooks that were not asked are asked before the next message, and
// those that were hear that the session did not begin.
func TestAnInterruptedStartIsNoStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p points
		asked := make(chan struct{}, 8)
		var quick atomic.Bool
		slow := hermes.Hook{Name: "slow", SessionStart: func(ctx context.Context, _ hermes.SessionRef) error {
			if asked <- struct{}{}; !quick.Load() {
				<-ctx.Done()
			}
			return nil
		}}
		last := points{}
		b, use := hooked(hook.New(nil, p.hook(), slow, last.hook()))
		closed := 0
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), b, use,
			with(func(_ hermes.RunSpec, r *session.Runtime) { r.Close = func() error { closed++; return nil } }))
		s := h.open(t, session.Open{})
		said := make(chan error, 1)
		go func() { said <- s.Do(context.Background(), hermes.From{}, say("first")) }()
		<-asked
		submit(t, s, hermes.Stop{})
		if err := <-said; !errors.Is(err, hermes.ErrInterrupted) {
			t.Errorf("err = %v", err)
		}
		quick.Store(true)
		synctest.Wait()
		if diff := cmp.Diff([]string{"SessionStart", "SessionEnd"}, p.seen); diff != "" {
			t.Error(diff)
		}
		if closed != 1 || len(last.seen) > 0 {
			t.Errorf("closed %d runtimes; the last hook saw %q", closed, last.seen)
		}
		turnOf(t, s, say("second"))
		if p.seen[2] != "SessionStart" || last.seen[0] != "SessionStart" {
			t.Errorf("seen %q and %q", p.seen, last.seen)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}
