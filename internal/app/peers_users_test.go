package app_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// TestAMessageDropsNoQuestion: a session whose question waits for its user takes no message of another one.
func TestAMessageDropsNoQuestion(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	other, me := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c, hermes.RunSpec{})
	events := attach(t, c, other, terminal("one"))
	tell(t, c, other, terminal("one"), `CALL clarify {"question":"Which one?"}`)
	until[hermes.Asked](t, events)
	if err := c.Do(t.Context(), other, terminal("one"), hermes.Stop{}); err != nil {
		t.Fatal(err)
	}
	until[hermes.TurnDone](t, events)
	if done := answered(t, c, me, asking(other, "hello")); !strings.Contains(done.Text, "waits for its user") {
		t.Errorf("the answer is %q", done.Text)
	}
	s, _, err := c.Attach(t.Context(), other, terminal("two"), protocol.After{})
	if err != nil || !s.Parked {
		t.Errorf("the question is gone: %+v, %v", s, err)
	}
}

// gone waits until no program runs a session.
func gone(t *testing.T, c protocol.Client, id string) {
	t.Helper()
	eventually(t, time.Minute, func() error {
		list, err := c.Sessions(t.Context(), protocol.Filter{ID: id})
		if err == nil && (len(list) != 1 || list[0].Running != nil) {
			err = fmt.Errorf("session %s is not left: %+v", id, list)
		}
		return err
	})
}

// waiting waits until so many messages wait in a session.
func waiting(t *testing.T, events <-chan protocol.Envelope, n int) {
	t.Helper()
	for len(until[hermes.Queued](t, events).Messages) != n {
	}
}

// TestTheLastOneLeavesASession that was opened for a message, also if another one asked for its answer.
func TestTheLastOneLeavesASession(t *testing.T) {
	t.Parallel()
	model := &asker{hold: make(chan struct{})}
	home := t.TempDir()
	_, c := neighbour(t, home, model.decide, nil)
	_, c2 := neighbour(t, home, model.decide, nil)
	other := openedIn(t, c, hermes.RunSpec{})
	if err := c.Do(t.Context(), other, terminal("one"), hermes.Leave{}); err != nil {
		t.Fatal(err)
	}
	gone(t, c, other)
	one, two := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c2, hermes.RunSpec{})
	first, second := attach(t, c, one, terminal("one")), attach(t, c2, two, terminal("two"))
	tell(t, c, one, terminal("one"), asking(other, "HOLD one"))
	until[hermes.CallStarted](t, first)
	ctx, detach := context.WithCancel(t.Context())
	defer detach()
	var events <-chan protocol.Envelope
	eventually(t, time.Minute, func() error {
		s, e, err := c.Attach(ctx, other, hermes.From{Client: "look", Platform: "cli"}, protocol.After{})
		if events = e; err == nil && s.Turn == nil {
			err = errors.New("the turn of the message has not begun")
		}
		return err
	})
	tell(t, c2, two, terminal("two"), asking(other, "two"))
	waiting(t, events, 1)
	detach()
	eventually(t, time.Minute, func() error {
		list, err := c.Sessions(t.Context(), protocol.Filter{ID: other})
		if err == nil && list[0].Running.Frontends != 2 {
			err = fmt.Errorf("%d are attached", list[0].Running.Frontends)
		}
		return err
	})
	close(model.hold)
	for _, mine := range []<-chan protocol.Envelope{first, second} {
		if done := until[hermes.TurnDone](t, mine); !strings.Contains(done.Text, `"status":"answered"`) {
			t.Errorf("the answer is %q", done.Text)
		}
	}
	gone(t, c, other)
}

// TestAnotherSessionClosesNoneThatItDidNotOpen, even if no one is attached there.
func TestAnotherSessionClosesNoneThatItDidNotOpen(t *testing.T) {
	t.Parallel()
	_, c := neighbour(t, t.TempDir(), (&asker{}).decide, nil)
	info, err := c.Open(t.Context(), hermes.From{Client: "x", Platform: "cli"}, hermes.RunSpec{Workspace: hermes.Workspace{Dir: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), info.ID, hermes.From{Client: "x", Platform: "cli"}, hermes.Say{Parts: []hermes.Part{{Text: "Hello."}}}); err != nil {
		t.Fatal(err)
	}
	one := openedIn(t, c, hermes.RunSpec{})
	for range 2 { // the first exchange has left when the second begins
		if done := answered(t, c, one, asking(info.ID, "hello")); !strings.Contains(done.Text, "You said: hello") {
			t.Errorf("the answer is %q", done.Text)
		}
		list, err := c.Sessions(t.Context(), protocol.Filter{ID: info.ID})
		if err != nil || len(list) != 1 || list[0].Running == nil {
			t.Fatalf("the session is closed: %+v, %v", list, err)
		}
	}
}

// TestAStoppedCallerTakesNothingFromAUser who came to the session that it asked: what the user typed still waits.
func TestAStoppedCallerTakesNothingFromAUser(t *testing.T) {
	t.Parallel()
	for _, attends := range []bool{true, false} {
		model := &asker{hold: make(chan struct{})}
		_, c := neighbour(t, t.TempDir(), model.decide, nil)
		other := openedIn(t, c, hermes.RunSpec{})
		if err := c.Do(t.Context(), other, terminal("one"), hermes.Leave{}); err != nil {
			t.Fatal(err)
		}
		gone(t, c, other)
		me := openedIn(t, c, hermes.RunSpec{})
		mine := attach(t, c, me, terminal("one"))
		tell(t, c, me, terminal("one"), asking(other, "HOLD on"))
		user := terminal("user")
		user.Attends = attends
		var events <-chan protocol.Envelope
		eventually(t, time.Minute, func() error {
			s, e, err := c.Attach(t.Context(), other, user, protocol.After{})
			if events = e; err == nil && s.Turn == nil {
				err = errors.New("the turn of the message has not begun")
			}
			if err == nil {
				err = c.Do(t.Context(), other, user, hermes.Say{Parts: []hermes.Part{{Text: "typed"}}, Busy: hermes.BusyQueue, Key: "typed"})
			}
			return err
		})
		if err := c.Do(t.Context(), me, terminal("one"), hermes.Stop{}); err != nil {
			t.Fatal(err)
		}
		until[hermes.TurnDone](t, mine)
		if attends {
			close(model.hold)
		}
		first := until[hermes.TurnDone](t, events)
		if want := map[bool]hermes.Outcome{true: hermes.OutcomeDone, false: hermes.OutcomeInterrupted}[attends]; first.Outcome != want {
			t.Errorf("attended %v: the turn of the message is %q, want %q", attends, first.Outcome, want)
		}
		if second := until[hermes.TurnDone](t, events); !strings.Contains(second.Text, "You said: typed") {
			t.Errorf("attended %v: the turn of what the user typed is %+v", attends, second)
		}
		if !attends {
			close(model.hold)
		}
	}
}

// TestSessionsOfTwoProcessesDoNotWaitForEachOther, which no process sees alone.
func TestSessionsOfTwoProcessesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	model, home := &asker{hold: make(chan struct{})}, t.TempDir()
	_, c := neighbour(t, home, model.decide, nil)
	_, c2 := neighbour(t, home, model.decide, nil)
	one, two := openedIn(t, c, hermes.RunSpec{}), openedIn(t, c2, hermes.RunSpec{})
	first, second := attach(t, c, one, terminal("one")), attach(t, c2, two, terminal("two"))
	tell(t, c2, two, terminal("two"), "HOLD\n"+asking(one, "from two"))
	until[hermes.StepStarted](t, second)
	tell(t, c, one, terminal("one"), asking(two, "from one"))
	waiting(t, second, 1)
	close(model.hold)
	if done := until[hermes.TurnDone](t, second); !strings.Contains(done.Text, "waits for the answer of another session itself") {
		t.Errorf("the second one got %q", done.Text)
	}
	if done := until[hermes.TurnDone](t, first); !strings.Contains(done.Text, "You said: from one") {
		t.Errorf("the first one got %q", done.Text)
	}
}
