package protocoltest

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/protocol"
)

// testAnswers answers an approval in two frontends.
func testAnswers(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.CallTool("approve", "{}"), hermestest.Say("done"))
	a := Open(t, connect(t, w, one), one)
	b := Attach(t, connect(t, w, two), a.ID, two, protocol.After{})
	a.Say("build")
	asked, seen := Next[hermes.Asked](a), Next[hermes.Asked](b)
	if asked.Approval == nil || asked.Approval.Subject != "rm -rf build" || asked.ID != seen.ID {
		t.Fatalf("asked %+v and %+v", asked, seen)
	}
	late := Attach(t, connect(t, w, two), a.ID, two, protocol.After{})
	if q := late.Snapshot.Questions; len(q) != 1 || q[0].Session != a.ID || q[0].Asked.ID != asked.ID || late.Snapshot.State != protocol.StateAsking {
		t.Errorf("attached while it asks: %+v", late.Snapshot)
	}
	a.Do(hermes.Touch{ID: asked.ID})
	reply := hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}
	b.Do(reply)
	taken, closed := Next[hermes.AnswerTaken](a), Next[hermes.AnswerTaken](b)
	if someone(taken.By) != someone(two) || taken.By == one || taken.Decision != hermes.AllowOnce || closed.By != two {
		t.Errorf("answered by %+v, seen as %+v", closed, taken)
	}
	err := a.Client.Do(t.Context(), a.ID, one, reply)
	e, ok := errors.AsType[hermes.ErrAnswered](err)
	if !ok || someone(e.By) != someone(two) || e.By == one || err.Error() != "already answered by terminal 2" {
		t.Errorf("a late answer: %v", err)
	}
	if err := b.Client.Do(t.Context(), b.ID, two, reply); !errors.Is(err, hermes.ErrAnswered{By: two}) {
		t.Errorf("the second answer of the same: %v", err)
	}
	if done := Next[hermes.CallDone](a); done.Result.Text() != "once" || done.Failed {
		t.Errorf("the call: %+v", done)
	}
	Next[hermes.TurnDone](b)
}

func testQuestion(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.CallTool("ask", "{}"), hermestest.Say("done"))
	f := Open(t, connect(t, w, one), one)
	f.Say("ask me")
	asked := Next[hermes.Asked](f)
	if asked.Question == nil || asked.Question.Text != "Which colour?" || asked.At.IsZero() {
		t.Fatalf("asked %+v", asked)
	}
	f.Do(hermes.Reply{ID: asked.ID, Answer: hermes.Answer{Texts: []string{"red", "blue"}}})
	if done := Next[hermes.CallDone](f); done.Result.Text() != "red, blue" {
		t.Errorf("the call: %+v", done)
	}
	Next[hermes.TurnDone](f)
}

func testLeave(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"))
	a := Open(t, connect(t, w, one), one)
	b := Attach(t, connect(t, w, two), a.ID, two, protocol.After{})
	a.Do(hermes.Leave{})
	b.Say("still there?")
	if done := Next[hermes.TurnDone](b); done.Text != "hello" {
		t.Errorf("done %+v", done)
	}
	a.Detach()
	for range a.Events {
	}
	b.Do(hermes.Leave{})
	Next[hermes.Closed](b)
	if e, ok := <-b.Events; ok {
		t.Errorf("an event after the end: %+v", e)
	}
}

// testClosed closes a session that two watch, and opens it again.
func testClosed(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"), hermestest.Say("again"))
	c := connect(t, w, one)
	f := Open(t, c, one)
	f.Say("hi")
	Next[hermes.TurnDone](f)
	f.Do(hermes.Leave{})
	Next[hermes.Closed](f)
	if _, ok := <-f.Events; ok {
		t.Error("an event after the end")
	}
	if err := c.Do(t.Context(), f.ID, one, say("hello?")); !errors.Is(err, hermes.ErrClosed) {
		t.Errorf("a message to a closed session: %v", err)
	}
	info, err := c.Open(t.Context(), one, hermes.RunSpec{Session: f.ID})
	if err != nil || info.ID != f.ID {
		t.Fatalf("opened again: %+v, %v", info, err)
	}
	again := Attach(t, c, f.ID, one, f.After)
	if again.Snapshot.Continued || again.Snapshot.Epoch == f.After.Epoch || again.Snapshot.Last == 0 {
		t.Errorf("attached again: %+v", again.Snapshot)
	}
	again.Say("back")
	if done := Next[hermes.TurnDone](again); done.Text != "again" {
		t.Errorf("done %+v", done)
	}
	err = open(t, c, hermes.RunSpec{Session: f.ID, Tools: hermes.ToolChoice{Enabled: []string{"web"}}})
	if fixed, ok := errors.AsType[hermes.ErrFixed](err); !ok || !slices.Equal(fixed.Parts, []string{"Tools.Enabled"}) || fixed.Session != f.ID {
		t.Errorf("opened with other tools: %v", err)
	}
}

// testKey sends one message many times while its turn is prepared, and later.
func testKey(t *testing.T, connect Connect) {
	w := NewWorld(t, hermestest.Say("hello"), hermestest.Say("other"))
	hold := make(chan struct{})
	w.Prepare = func() { <-hold }
	c, d := connect(t, w, one), connect(t, w, two)
	f := Open(t, c, one)
	message := hermes.Say{Parts: []hermes.Part{{Text: "hi"}}, Key: "f00d"}
	var all sync.WaitGroup
	for _, c := range []protocol.Client{c, d, c, d} {
		all.Go(func() {
			if err := c.Do(t.Context(), f.ID, one, message); err != nil {
				t.Error(err)
			}
		})
	}
	close(hold)
	all.Wait()
	Next[hermes.TurnDone](f)
	for range 3 {
		f.Do(message)
	}
	f.Do(hermes.Say{Parts: []hermes.Part{{Text: "hi"}}, Key: "cafe"})
	if started := Next[hermes.TurnStarted](f); started.Turn != 2 {
		t.Errorf("started %+v", started)
	}
	Next[hermes.TurnDone](f)
	var refused hermes.Say
	refused.Key = "empty"
	for range 2 { // a refusal is not remembered as taken
		if err := c.Do(t.Context(), f.ID, one, refused); err == nil {
			t.Error("an empty message was taken")
		}
	}
}
