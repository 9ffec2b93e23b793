package session_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

func later(text string) hermes.Say {
	return hermes.Say{Parts: []hermes.Part{{Text: text}}, Busy: hermes.BusyQueue}
}

// waiting returns the texts of the stored messages that wait.
func waiting(t *testing.T, st hermes.Store, id string) []string {
	t.Helper()
	list, err := st.WaitingMessages(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, w := range list {
		texts = append(texts, w.Message.Text())
	}
	return texts
}

func wantWaiting(t *testing.T, st hermes.Store, id string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(append([]string{}, want...), waiting(t, st, id)); diff != "" {
		t.Errorf("what waits (-want +got):\n%s", diff)
	}
}

// TestWhatWaitsIsStored: before Submit returns, and until it is part of the transcript.
func TestWhatWaitsIsStored(t *testing.T) {
	t.Parallel()
	wait, entered, leave := gate("wait")
	hold := make(chan struct{})
	m := hermestest.NewScript(hermestest.CallTool("wait", `{}`), hermestest.Step{Wait: hold, Text: "one is done"},
		hermestest.Say("two is done"), hermestest.Say("the note is done"))
	h := newFixture(t, m, newToolTable(wait))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("one"))
	<-entered
	submit(t, s, later("two"))
	submit(t, s, hermes.Steer{Text: "use tabs"})
	submit(t, s, hermes.Steer{Text: ""})
	wantWaiting(t, h.store, s.ID(), "two", "use tabs")
	close(leave)
	until[hermes.Steered](e)
	until[hermes.Appended](e)
	wantWaiting(t, h.store, s.ID(), "two")
	submit(t, s, hermes.Steer{Text: "too late"})
	wantWaiting(t, h.store, s.ID(), "two", "too late")
	close(hold)
	until[hermes.TurnDone](e)
	until[hermes.TurnDone](e)
	until[hermes.TurnDone](e)
	wantWaiting(t, h.store, s.ID())
	got := stored(t, h.store, s.ID())
	all := strings.Join(got, "\n")
	if len(got) != 8 || got[4] != "user: too late" || got[6] != "user: two" || strings.Count(all, "use tabs") != 1 {
		t.Errorf("stored %q", got)
	}
}

// leftWaiting returns a session whose first process ended while messages waited, as another
// process opens it.
func leftWaiting(t *testing.T, second hermes.Model, crash bool) (*fixture, *session.Session) {
	t.Helper()
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	h := newFixture(t, hermestest.NewScript(hermestest.Say("zero"), hermestest.Step{Wait: hold}), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("zero"))
	until[hermes.TurnDone](e)
	submit(t, s, say("one"))
	until[hermes.StepStarted](e)
	submit(t, s, later("two"))
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "from a process", Provenance: "a process"}}, Busy: hermes.BusyQueue, Synthetic: true})
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "three"}, {Text: "a page", Provenance: "a page"}}, Busy: hermes.BusyQueue})
	submit(t, s, hermes.Steer{Text: "four"})
	if !crash {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	other := newFixture(t, second, newToolTable(), func(c *session.Config) { c.Store = h.store })
	other.store = h.store
	return other, other.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
}

func TestWaitingMessagesGoWithTheNextOne(t *testing.T) {
	t.Parallel()
	for _, crash := range []bool{true, false} {
		t.Run(fmt.Sprintf("crash %v", crash), func(t *testing.T) {
			t.Parallel()
			h, s := leftWaiting(t, hermestest.NewScript(hermestest.Say("both"), hermestest.Say("seen")), crash)
			wantWaiting(t, h.store, s.ID(), "two", "from a process", "three\na page", "four")
			st, err := s.State(t.Context())
			if err != nil || st.Queued != 4 || st.Running {
				t.Fatalf("%d wait, running is %v, %v", st.Queued, st.Running, err)
			}
			e := listen(t, s)
			submit(t, s, say("five"))
			if d := until[hermes.TurnDone](e); d.Text != "both" {
				t.Errorf("the turn of the new message: %+v", d)
			}
			if d := until[hermes.TurnDone](e); d.Text != "seen" {
				t.Errorf("the turn of the program's message: %+v", d)
			}
			wantWaiting(t, h.store, s.ID())
			list, err := h.store.Messages(t.Context(), s.ID(), hermes.Range{Last: 4})
			if err != nil || len(list) != 4 || list[0].Text() != "two\nthree\na page\nfour\nfive" || list[0].Provenance != "a page" ||
				list[2].Text() != "from a process" || !list[2].Synthetic {
				t.Errorf("stored %+v, %v", list, err)
			}
		})
	}
}

// TestWhatTheProgramSaysGoesAlone: the user's messages still wait for the user.
func TestWhatTheProgramSaysGoesAlone(t *testing.T) {
	t.Parallel()
	h, s := leftWaiting(t, hermestest.NewScript(hermestest.Step{Wait: make(chan struct{})}), false)
	e := listen(t, s)
	submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "a process ended"}}, Synthetic: true})
	if m := until[hermes.TurnStarted](e).Message; m.Text() != "a process ended" {
		t.Errorf("the turn is about %q", m.Text())
	}
	wantWaiting(t, h.store, s.ID(), "two", "from a process", "three\na page", "four")
}

// TestContinueAnswersWhatWaits: after the turn that was cut off, each in a turn of its own.
func TestContinueAnswersWhatWaits(t *testing.T) {
	t.Parallel()
	h, s := leftWaiting(t, hermestest.NewScript(hermestest.Say("1"), hermestest.Say("2"), hermestest.Say("p"), hermestest.Say("3"), hermestest.Say("4")), true)
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	for _, want := range []string{"1", "2", "p", "3", "4"} {
		if d := until[hermes.TurnDone](e); d.Text != want {
			t.Fatalf("done %+v, want %s", d, want)
		}
	}
	wantWaiting(t, h.store, s.ID())
	if err := s.Do(t.Context(), hermes.From{}, hermes.Continue{}); err == nil {
		t.Error("there was nothing to continue")
	}
	got := stored(t, h.store, s.ID())
	if diff := cmp.Diff([]string{"user: one", "assistant: 1", "user: two", "assistant: 2", "user: from a process", "assistant: p",
		"user: three\na page", "assistant: 3", "user: four", "assistant: 4"}, got[2:]); diff != "" {
		t.Error(diff)
	}
}

// TestContinueAnswersWhatWaitsAfterAnAnswer: also where no turn was cut off.
func TestContinueAnswersWhatWaitsAfterAnAnswer(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.Say("zero"), hermestest.Say("one")), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("zero"))
	until[hermes.TurnDone](e)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := h.store.Acquire(t.Context(), s.ID(), hermes.Owner{Name: "here"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.AddWaiting(t.Context(), l, hermes.WaitingMessage{Message: hermes.UserText("one")}); err != nil {
		t.Fatal(err)
	}
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	e = listen(t, s)
	submit(t, s, hermes.Continue{})
	if d := until[hermes.TurnDone](e); d.Text != "one" {
		t.Errorf("done %+v", d)
	}
	wantWaiting(t, h.store, s.ID())
}

// TestStopDropsWhatWaits: the queue, the notes, and what an earlier process left.
func TestStopDropsWhatWaits(t *testing.T) {
	t.Parallel()
	h, s := leftWaiting(t, hermestest.NewScript(hermestest.Step{Wait: make(chan struct{})}), true)
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	until[hermes.StepStarted](e)
	submit(t, s, hermes.Steer{Text: "a note"})
	submit(t, s, hermes.Stop{})
	wantWaiting(t, h.store, s.ID())
	until[hermes.TurnDone](e)
	if st, err := s.State(t.Context()); err != nil || st.Running || st.Queued != 0 {
		t.Errorf("running is %v, %d wait, %v", st.Running, st.Queued, err)
	}
}

func TestQueueHasALimit(t *testing.T) {
	t.Parallel()
	const limit = 100
	h := newFixture(t, hermestest.NewScript(hermestest.Step{Wait: make(chan struct{})}), newToolTable())
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.StepStarted](e)
	for i := range limit {
		submit(t, s, later(fmt.Sprint(i)))
	}
	if err := s.Do(t.Context(), hermes.From{}, later("one more")); err == nil || !strings.Contains(err.Error(), "100 messages are already waiting") {
		t.Errorf("message %d: %v", limit+1, err)
	}
	if got := waiting(t, h.store, s.ID()); len(got) != limit || got[limit-1] != fmt.Sprint(limit-1) {
		t.Errorf("%d messages wait, the last is %q", len(got), got[len(got)-1])
	}
}

func TestAMessageThatCannotBeStoredDoesNotWait(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	store := hermestest.NewStore()
	store.Fail = func(method string) error {
		if method == "AddWaiting" {
			return full
		}
		return nil
	}
	hold := make(chan struct{})
	h := newFixture(t, hermestest.NewScript(hermestest.Step{Wait: hold, Text: "done"}), newToolTable(), func(c *session.Config) { c.Store = store })
	s := h.open(t, session.Open{})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.StepStarted](e)
	for _, op := range []hermes.Op{later("two"), say("two"), hermes.Steer{Text: "two"}} {
		if err := s.Do(t.Context(), hermes.From{}, op); !errors.Is(err, full) {
			t.Errorf("%T: %v", op, err)
		}
	}
	close(hold)
	if d := until[hermes.TurnDone](e); d.Text != "done" {
		t.Errorf("the turn did not go on: %+v", d)
	}
	if st, err := s.State(t.Context()); err != nil || st.Running || st.Queued != 0 {
		t.Errorf("running is %v, %d wait, %v", st.Running, st.Queued, err)
	}
}

// TestUsageIsStoredWithItsAnswer: what a turn used is known also if the process dies in it.
func TestUsageIsStoredWithItsAnswer(t *testing.T) {
	t.Parallel()
	wait, entered, leave := gate("wait")
	first, second := hermestest.CallTool("wait", `{}`), hermestest.Say("done")
	first.Usage, second.Usage = &hermes.Usage{Input: 100, Output: 7, CacheRead: 3, CacheWrite: 2, Reasoning: 1, Calls: 1}, &hermes.Usage{Input: 50, Output: 5, Calls: 1}
	h := newFixture(t, hermestest.NewScript(first, second), newToolTable(wait))
	s := h.open(t, session.Open{})
	e := listen(t, s)
	usage := func() hermes.Usage {
		t.Helper()
		row, err := h.store.FindSession(t.Context(), s.ID())
		if err != nil {
			t.Fatal(err)
		}
		return row.Usage
	}
	submit(t, s, say("go"))
	<-entered
	if diff := cmp.Diff(*first.Usage, usage()); diff != "" {
		t.Errorf("while the call runs: %s", diff)
	}
	close(leave)
	until[hermes.TurnDone](e)
	want := first.Usage.Add(*second.Usage)
	if diff := cmp.Diff(want, usage()); diff != "" {
		t.Errorf("after the turn: %s", diff)
	}
	if st, err := s.State(t.Context()); err != nil || st.Row.Usage != want {
		t.Errorf("the session says %+v, %v", st.Row.Usage, err)
	}
}
