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

// overtaking is a store whose session another process goes on with, just before this one gets
// the lease.
type overtaking struct {
	hermes.Store
	meanwhile []hermes.Message
}

func (o *overtaking) Acquire(ctx context.Context, id string, owner hermes.Owner, ttl time.Duration) (hermes.Lease, error) {
	list := o.meanwhile
	if o.meanwhile = nil; list != nil {
		l, err := o.Store.Acquire(ctx, id, hermes.Owner{Name: "other"}, ttl)
		if err != nil {
			return l, err
		}
		if _, err := o.Commit(ctx, l, hermes.Change{Append: list}); err != nil {
			return l, err
		}
		if err := o.Release(ctx, l); err != nil {
			return l, err
		}
	}
	return o.Store.Acquire(ctx, id, owner, ttl)
}

// TestAResumedSessionHasWhatWasSaidLast: what another process stored before it gave the
// session away is part of the conversation.
func TestAResumedSessionHasWhatWasSaidLast(t *testing.T) {
	t.Parallel()
	st := &overtaking{Store: hermestest.NewStore()}
	talked(t, st, "s1", 2)
	st.meanwhile = []hermes.Message{
		{Role: hermes.RoleUser, Turn: 2, Parts: []hermes.Part{{Text: "said elsewhere"}}},
		{Role: hermes.RoleAssistant, Turn: 2, Parts: []hermes.Part{{Text: "answered elsewhere"}}},
	}
	m := hermestest.NewScript(hermestest.Say("here"))
	h := newFixture(t, m, newToolTable(), func(c *session.Config) { c.Store = st })
	turnOf(t, h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}}), say("go on"))
	sent := m.Requests()[0].Messages
	if len(sent) != 5 || sent[3].Text() != "answered elsewhere" || sent[4].Turn != 3 {
		t.Errorf("sent %+v", sent)
	}
}

// hanging is a job whose work does not end before its context.
func hanging(begun chan<- struct{}) jobs.Job {
	return jobs.Memory(func(ctx context.Context, _ hermes.MemoryTurn) error {
		begun <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}, time.Now, quietLog)
}

// with gives the runtimes of a fixture's sessions more.
func with(more func(run hermes.RunSpec, r *session.Runtime)) func(*session.Config) {
	return func(c *session.Config) {
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			r, err := newRuntime(ctx, run)
			if err == nil {
				more(run, r)
			}
			return r, err
		}
	}
}

// TestASessionThatIsClosingIsOpenedAgain: whoever opens a session while it ends gets a live one.
func TestASessionThatIsClosingIsOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, closing := range map[string]func(*session.Session){
		"idle":   func(*session.Session) { time.Sleep(time.Minute + time.Second) },
		"closed": func(s *session.Session) { go s.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := make(chan struct{}, 8)
			h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two")), newToolTable(),
				with(func(_ hermes.RunSpec, r *session.Runtime) { r.Jobs = []jobs.Job{hanging(begun)} }),
				func(c *session.Config) { c.IdleAfter = time.Minute })
			s := h.open(t, session.Open{})
			events, cancel := subscribe(s, 0)
			submit(t, s, say("first"))
			until[hermes.TurnDone](&ear{t: t, events: events})
			cancel()
			<-begun
			closing(s) // and it waits for the memory
			synctest.Wait()
			again := h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}, From: hermes.From{Attends: true}})
			if err := again.Do(t.Context(), hermes.From{}, say("second")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSessionsCloseAtOnce: a program with many sessions does not wait for one after another.
func TestSessionsCloseAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan struct{}, 8)
		h := newFixture(t, hermestest.NewScript(hermestest.Say("one"), hermestest.Say("two"), hermestest.Say("three")), newToolTable(),
			with(func(_ hermes.RunSpec, r *session.Runtime) { r.Jobs = []jobs.Job{hanging(begun)} }))
		for range 3 {
			turnOf(t, h.open(t, session.Open{}), say("go"))
			<-begun
		}
		start := time.Now()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(start); took > jobs.Grace {
			t.Errorf("closing took %v", took)
		}
	})
}

// TestWake sends a live session a message of its own; one that is not live gets nothing.
func TestWake(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.Say("one"), hermestest.Say("seen"))
	h := newFixture(t, m, newToolTable())
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	e := listen(t, s)
	h.Wake("another", "nothing")
	h.Wake(s.ID(), "it has ended")
	if got := until[hermes.TurnStarted](e).Message; got.Text() != "it has ended" || !got.Synthetic || got.Provenance != "a background process" {
		t.Errorf("the message is %+v", got)
	}
	until[hermes.TurnDone](e)
}

// TestOpenEndsWithItsContext: a user who does not want to wait for a tool server need not. Who
// wants the same session gets it.
func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st := hermestest.NewStore()
		talked(t, st, "s1", 2)
		starting := make(chan struct{}, 8)
		h := newFixture(t, hermestest.NewScript(), newToolTable(), func(c *session.Config) {
			c.Store = st
			newRuntime := c.NewRuntime
			c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
				starting <- struct{}{}
				select {
				case <-time.After(10 * time.Second):
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				}
				return newRuntime(ctx, run)
			}
		})
		ctx, interrupt := context.WithCancel(t.Context())
		opened := make(chan error, 2)
		open := func(ctx context.Context) {
			_, err := h.Open(ctx, session.Open{Run: hermes.RunSpec{Session: "s1"}})
			opened <- err
		}
		go open(ctx)
		<-starting
		go open(t.Context())
		synctest.Wait()
		start := time.Now()
		interrupt()
		if err := <-opened; !errors.Is(err, context.Canceled) || time.Since(start) > time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if err := <-opened; err != nil {
			t.Errorf("the other one: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}
