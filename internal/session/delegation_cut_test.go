package session_test

import (
	"context"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// holding is tasks whose calls go on after they have started their tasks, until leave is closed.
func holding(leave <-chan struct{}) (held tool, started chan struct{}) {
	started = make(chan struct{}, 8)
	inner := tasks()
	return tool{inner.spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r := inner.run(ctx, c)
		started <- struct{}{}
		select {
		case <-leave:
		case <-ctx.Done():
		}
		return r
	}}, started
}

// polite obeys, takes note of what the program says, and greets.
func polite(said string, last hermes.Message) hermestest.Step {
	if last.Text() == "hello" {
		return hermestest.Say("good day")
	}
	return noting(said, last)
}

// results lists the results of tasks in the background in a transcript.
func results(t *testing.T, st hermes.Store, id string) (list []string) {
	t.Helper()
	for _, m := range stored(t, st, id) {
		if strings.HasPrefix(m, "user: [Result of the background task ") {
			list = append(list, m)
		}
	}
	return list
}

// TestACutCallOwnsItsChildrenInTheBackground: after a crash within a call that started a task in the background,
// its child goes on with the call, or with the message that drops it, and reports once.
func TestACutCallOwnsItsChildrenInTheBackground(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		ended        bool // the child, before the crash
		op           hermes.Op
		call, status string // what the call says
	}{
		{"the call goes on", false, hermes.Continue{}, "running, ", "completed"},
		{"the call goes on after its result", true, hermes.Continue{}, "running, ", "completed"},
		{"something else is said", false, say("hello"), `"status":"running"}`, "completed"},
		{"something else is said after its result", true, say("hello"), `"status":"running"}`, "completed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			slow, entered, leave := gate("slow")
			held, started := holding(make(chan struct{}))
			h := newFixture(t, obedient(polite), newToolTable(held, slow))
			s := h.open(t, session.Open{})
			e := listen(t, s)
			submit(t, s, say(tasksOf(true, "slow")))
			<-started
			<-entered
			if tt.ended {
				close(leave)
				for len(until[hermes.Queued](e).Messages) == 0 {
				}
			}
			again, _, _ := gate("slow")
			now := make(chan struct{})
			close(now)
			free, _ := holding(now)
			next := newFixture(t, obedient(polite), newToolTable(free, again), func(c *session.Config) { c.Store = h.store })
			s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
			e = listen(t, s)
			child := childrenOf(t, h.store, s.ID())[0].ID
			if _, err := next.Get(t.Context(), child); err == nil {
				t.Error("the child goes on before its call")
			}
			submit(t, s, tt.op)
			until[hermes.TurnDone](e)
			if got := stored(t, h.store, s.ID())[2]; !strings.Contains(got, tt.call) {
				t.Errorf("the call says %q", got)
			}
			if got := until[hermes.TurnDone](e).Text; got != "noted" {
				t.Errorf("the turn of the result says %q", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if got := results(t, h.store, s.ID()); len(got) != 1 || !strings.HasPrefix(got[0], "user: [Result of the background task "+child+": "+tt.status+"]") {
				t.Errorf("the results are %q", got)
			}
			if rows := childrenOf(t, h.store, s.ID()); len(rows) != 1 || rows[0].EndReason != tt.status {
				t.Errorf("%d children, of which the first ended as %q", len(rows), rows[0].EndReason)
			}
		})
	}
}

// TestAChildThatTheUserOpenedIsTheirs: its parent does not take it over, nor close it, and goes on with it
// later.
func TestAChildThatTheUserOpenedIsTheirs(t *testing.T) {
	t.Parallel()
	for _, background := range []bool{true, false} {
		slow, entered, _ := gate("slow")
		h := newFixture(t, obedient(polite), newToolTable(tasks(), slow))
		s := h.open(t, session.Open{})
		submit(t, s, say(tasksOf(background, "slow")))
		<-entered
		again, _, leave := gate("slow")
		close(leave)
		next := newFixture(t, obedient(polite), newToolTable(tasks(), again), func(c *session.Config) { c.Store = h.store })
		child := next.open(t, session.Open{Run: hermes.RunSpec{Session: childrenOf(t, h.store, s.ID())[0].ID}})
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e := listen(t, s)
		if !background {
			submit(t, s, hermes.Continue{})
			if got := until[hermes.TurnDone](e).Text; !strings.Contains(got, child.ID()+" is open already; close it there first") {
				t.Errorf("the call says %q", got)
			}
		}
		submit(t, s, say("hello"))
		until[hermes.TurnDone](e)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if st := state(t, child); st.Running {
			t.Error("the child works for its parent")
		}
		if !background {
			continue
		}
		if err := child.Close(); err != nil {
			t.Fatal(err)
		}
		s = next.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
		e = listen(t, s)
		until[hermes.TurnDone](e)
		if got := results(t, h.store, s.ID()); len(got) != 1 {
			t.Errorf("the results are %q", got)
		}
	}
}

// TestALookAtAChildRunsNothingAgain: a child in the background that ended without an answer stays ended, although
// the user opened it since.
func TestALookAtAChildRunsNothingAgain(t *testing.T) {
	t.Parallel()
	slow, entered, _ := gate("slow")
	h := newFixture(t, obedient(polite), newToolTable(tasks(), slow))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say(tasksOf(true, "slow")))
	until[hermes.TurnDone](e)
	<-entered
	id := childrenOf(t, h.store, s.ID())[0].ID
	child, err := h.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	submit(t, child, hermes.Stop{})
	if got := until[hermes.TurnDone](e).Text; got != "noted" {
		t.Errorf("the turn of the result says %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	child = h.open(t, session.Open{Run: hermes.RunSpec{Session: id}})
	if err := child.Close(); err != nil {
		t.Fatal(err)
	}
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = listen(t, s)
	submit(t, s, say("hello"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-entered:
		t.Error("the child runs again")
	default:
	}
	if rows := childrenOf(t, h.store, s.ID()); rows[0].EndReason != "interrupted" {
		t.Errorf("the child ended as %q", rows[0].EndReason)
	}
	if got := results(t, h.store, s.ID()); len(got) != 1 {
		t.Errorf("the results are %q", got)
	}
}
