package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// asker is a tool that asks so many questions, one after another.
func asker(questions int) tool {
	spec := hermes.Spec{Name: "clarify", Schema: json.RawMessage(`{"type":"object"}`), Mode: hermes.ModeExclusive, Effect: hermes.EffectAsk}
	return tool{spec, func(ctx context.Context, c *hermes.Call) hermes.Result {
		var said []string
		for i := range questions {
			a, err := c.Host.Ask(ctx, hermes.Question{CallID: c.ID, Text: fmt.Sprintf("question %d", i+1)})
			switch {
			case err != nil:
				return hermes.Result{Text: "error: " + err.Error(), Failed: true}
			case a.TimedOut:
				return hermes.Result{Text: "not answered"}
			}
			said = append(said, strings.Join(a.Texts, " and "))
		}
		return hermes.Result{Text: strings.Join(said, ", ")}
	}}
}

func replies(id string, texts ...string) hermes.Reply {
	return hermes.Reply{ID: id, Answer: hermes.Answer{Texts: texts}}
}

func asking(t *testing.T, st hermes.Store, id string, want bool) {
	t.Helper()
	row, err := st.FindSession(t.Context(), id)
	if err != nil || row.Asking != want {
		t.Errorf("the row says asking %v, want %v (%v)", row.Asking, want, err)
	}
}

func state(t *testing.T, s *session.Session) session.State {
	t.Helper()
	st, err := s.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// later is another process with the same store.
func (h *fixture) later(t *testing.T, m hermes.Model, b *toolTable) *fixture {
	t.Helper()
	return newFixture(t, m, b, func(c *session.Config) { c.Store, c.Owner = h.store, hermes.Owner{Name: "later"} })
}

func TestQuestionStaysOpenAfterItsProcess(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.CallTool("clarify", `{}`), hermestest.Say("thank you"))
	h := newFixture(t, m, newToolTable(asker(3)))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	submit(t, s, replies(until[hermes.Asked](e).ID, "one"))
	if q := until[hermes.Asked](e); q.Question.Text != "question 2" {
		t.Errorf("asked %+v", q.Question)
	}
	asking(t, h.store, s.ID(), true)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if d := until[hermes.TurnDone](e); d.Outcome != hermes.OutcomeInterrupted || d.Usage.Calls != 1 {
		t.Errorf("done %+v", d)
	}
	asking(t, h.store, s.ID(), true)

	after := h.later(t, m, newToolTable(asker(3)))
	s = after.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}, From: hermes.From{Attends: true}})
	if st := state(t, s); !st.Asking || !st.Cut || st.Running {
		t.Errorf("state %+v", st)
	}
	e = listen(t, s)
	submit(t, s, hermes.Continue{})
	for _, want := range []string{"question 2", "question 3"} {
		q := until[hermes.Asked](e)
		if q.Question.Text != want {
			t.Errorf("asked %q, want %q", q.Question.Text, want)
		}
		submit(t, s, replies(q.ID, "to "+want))
	}
	if d := until[hermes.TurnDone](e); d.Text != "thank you" || d.Turn != 1 {
		t.Errorf("done %+v", d)
	}
	want := []string{"user: go", "assistant: ", "tool: one, to question 2, to question 3", "assistant: thank you"}
	if diff := cmp.Diff(want, stored(t, h.store, s.ID())); diff != "" {
		t.Error(diff)
	}
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	asking(t, h.store, s.ID(), false)
}

// crashed is a store whose session died with a batch of calls open.
func crashed(t *testing.T, calls ...hermes.ToolCall) (hermes.Store, hermes.Lease) {
	t.Helper()
	st := hermestest.NewStore()
	now := time.Now()
	if err := st.CreateSession(t.Context(), hermes.Session{ID: "s1", Platform: "test", Started: now, System: "x", Tools: json.RawMessage(`[]`)}); err != nil {
		t.Fatal(err)
	}
	l, err := st.Acquire(t.Context(), "s1", hermes.Owner{Name: "dead"}, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{hermes.Message{Role: hermes.RoleUser, Turn: 1, Parts: []hermes.Part{{Text: "go"}}, Time: now}, hermes.Message{Role: hermes.RoleAssistant, Turn: 1, Calls: calls, Time: now}}}); err != nil {
		t.Fatal(err)
	}
	return st, l
}

func begun(t *testing.T, st hermes.Store, l hermes.Lease, c hermes.ToolCall, h hermes.PendingCall) {
	t.Helper()
	if err := st.BeginCall(t.Context(), l, c); err != nil {
		t.Fatal(err)
	}
	if err := st.SavePending(t.Context(), l, c.ID, h); err != nil {
		t.Fatal(err)
	}
}

func toolCall(id, name string) hermes.ToolCall {
	return hermes.ToolCall{ID: id, Name: name, Arguments: "{}"}
}

func TestBatchGoesOnAfterAQuestionThatACrashLeft(t *testing.T) {
	t.Parallel()
	for name, hold := range map[string]*hermes.PendingCall{
		"not begun":       nil,
		"nothing is kept": {},
		"open":            {Answers: []hermes.AskedQuestion{{Question: hermes.Question{Text: "question 1"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, l := crashed(t, toolCall("1", "half"), toolCall("2", "clarify"), toolCall("3", "later"))
			begun(t, st, l, toolCall("1", "half"), hermes.PendingCall{})
			if hold != nil {
				begun(t, st, l, toolCall("2", "clarify"), *hold)
			}
			m := hermestest.NewScript(hermestest.Say("went on"))
			h := newFixture(t, m, newToolTable(asker(1), echo("half"), echo("later")), func(c *session.Config) { c.Store = st })
			s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}, From: hermes.From{Attends: true}})
			e := listen(t, s)
			submit(t, s, hermes.Continue{})
			submit(t, s, replies(until[hermes.Asked](e).ID, "yes"))
			until[hermes.TurnDone](e)
			got := stored(t, st, "s1")
			if len(got) != 6 || !strings.Contains(got[2], "outcome is unknown") {
				t.Fatalf("stored %q", got)
			}
			if diff := cmp.Diff([]string{"tool: yes", "tool: did later", "assistant: went on"}, got[3:]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswersAreKeptWhenTheResultIsNot(t *testing.T) {
	t.Parallel()
	st, l := crashed(t, toolCall("1", "clarify"))
	begun(t, st, l, toolCall("1", "clarify"), hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: hermes.Question{Text: "question 1"}, Answer: &hermes.Answer{Texts: []string{"kept"}}}}})
	h := newFixture(t, hermestest.NewScript(hermestest.Say("went on")), newToolTable(asker(1)), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}}) // unattended
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	until[hermes.TurnDone](e)
	if got := stored(t, st, "s1")[2]; got != "tool: kept" {
		t.Error(got)
	}
	for _, ev := range e.heard {
		if _, ok := ev.(hermes.Asked); ok {
			t.Error("it was asked again")
		}
	}
}

func TestAnotherMessageDropsTheQuestion(t *testing.T) {
	t.Parallel()
	two := hermestest.Step{Calls: []hermes.ToolCall{toolCall("1", "clarify"), toolCall("2", "later")}}
	for name, before := range map[string]func(*testing.T, *session.Session, *ear){
		"after a stop": func(t *testing.T, s *session.Session, e *ear) {
			submit(t, s, hermes.Stop{})
			if n := until[hermes.Notice](e); !strings.Contains(n.Text, "stays open") {
				t.Errorf("notice %+v", n)
			}
			until[hermes.TurnDone](e)
			if st := state(t, s); !st.Asking {
				t.Errorf("state %+v", st)
			}
			if err := s.Do(t.Context(), hermes.From{}, hermes.Compress{}); err == nil {
				t.Error("a transcript with an open question was compressed")
			}
			submit(t, s, hermes.Say{Parts: []hermes.Part{{Text: "a process ended"}}, Synthetic: true})
			if st := state(t, s); st.Running || !st.Asking {
				t.Error("a synthetic message dropped the question")
			}
		},
		"in the middle": func(*testing.T, *session.Session, *ear) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := hermestest.NewScript(two, hermestest.Say("as you say"), hermestest.Say("noted"))
			h := newFixture(t, m, newToolTable(asker(2), echo("later")))
			s := h.open(t, session.Open{From: hermes.From{Attends: true}})
			e := listen(t, s)
			submit(t, s, say("go"))
			submit(t, s, replies(until[hermes.Asked](e).ID, "first answer"))
			until[hermes.Asked](e)
			before(t, s, e)
			submit(t, s, say("forget it"))
			for until[hermes.TurnDone](e).Text != "as you say" {
			}
			got := stored(t, h.store, s.ID())[:6]
			for i, want := range []string{"first answer", "before this ran", "forget it", "as you say"} {
				if !strings.Contains(got[2+i], want) {
					t.Errorf("message %d is %q, want %q", 2+i, got[2+i], want)
				}
			}
			asking(t, h.store, s.ID(), false)
		})
	}
}

func TestUnattendedResumeLeavesTheQuestion(t *testing.T) {
	t.Parallel()
	st, l := crashed(t, toolCall("1", "clarify"))
	begun(t, st, l, toolCall("1", "clarify"), hermes.PendingCall{Answers: []hermes.AskedQuestion{{Question: hermes.Question{Text: "question 1"}}}})
	h := newFixture(t, hermestest.NewScript(hermestest.Say("guessed")), newToolTable(asker(1)), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, st, "s1"); len(got) != 2 {
		t.Errorf("stored %q", got)
	}
	asking(t, st, "s1", true)
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	e := listen(t, s)
	submit(t, s, hermes.Continue{})
	until[hermes.TurnDone](e)
	if got := stored(t, st, "s1")[2]; !strings.Contains(got, "unattended") {
		t.Error(got)
	}
}

func TestTheLeaseDecidesWhoAsks(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.CallTool("clarify", `{}`), hermestest.Say("done"))
	h := newFixture(t, m, newToolTable(asker(1)))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	q := until[hermes.Asked](e)
	other := h.later(t, m, newToolTable(asker(1)))
	if _, err := other.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID()}, From: hermes.From{Attends: true}}); !errors.Is(err, hermes.ErrLeased) {
		t.Fatalf("err = %v", err)
	}
	submit(t, s, replies(q.ID, "mine"))
	until[hermes.TurnDone](e)
	if got := stored(t, h.store, s.ID())[2]; got != "tool: mine" {
		t.Error(got)
	}
}

func TestApprovalThatWasNotGivenWasNeverUsed(t *testing.T) {
	t.Parallel()
	var inside []hermes.Step
	var h *fixture
	rm := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID})
		inside, _ = h.store.OpenSteps(ctx, c.Host.Session().ID)
		return hermes.Result{Text: fmt.Sprintf("%v %v", answer.Decision, err)}
	}}
	h = newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(rm))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	q := until[hermes.Asked](e)
	steps, err := h.store.OpenSteps(t.Context(), s.ID())
	if err != nil || len(steps) != 1 || !steps[0].Pending.AwaitingApproval {
		t.Errorf("the journal has %+v, %v while approval is asked for", steps, err)
	}
	submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
	until[hermes.TurnDone](e)
	if len(inside) != 1 || inside[0].Pending.AwaitingApproval {
		t.Errorf("the journal has %+v when the call runs", inside)
	}

	st, l := crashed(t, toolCall("1", "rm"))
	begun(t, st, l, toolCall("1", "rm"), hermes.PendingCall{AwaitingApproval: true})
	after := newFixture(t, hermestest.NewScript(), newToolTable(rm), func(c *session.Config) { c.Store = st })
	after.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}, From: hermes.From{Attends: true}})
	if got := stored(t, st, "s1")[2]; !strings.Contains(got, "before this ran") {
		t.Error(got)
	}
}

func TestApprovalThatCannotBeStoredIsNotGiven(t *testing.T) {
	t.Parallel()
	ran := false
	rm := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, _ := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID})
		ran = answer.Allowed()
		return hermes.Result{Text: string(answer.Decision)}
	}}
	st := hermestest.NewStore()
	full := false
	st.Fail = func(method string) error {
		if full && method == "SavePending" {
			return errors.New("the disk is full")
		}
		return nil
	}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("rm", `{}`), hermestest.Say("ok")), newToolTable(rm), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	q := until[hermes.Asked](e)
	full = true
	if err := s.Do(t.Context(), hermes.From{}, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}}); err == nil || !strings.Contains(err.Error(), "does not count") {
		t.Errorf("err = %v", err)
	}
	submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}})
	until[hermes.TurnDone](e)
	if ran {
		t.Error("it ran")
	}
}

func TestStopRightAfterTheAnswerKeepsIt(t *testing.T) {
	t.Parallel()
	for range 20 { // either side of the race is fine, but the answer is not lost
		m := hermestest.NewScript(hermestest.CallTool("clarify", `{}`), hermestest.Say("never said"))
		h := newFixture(t, m, newToolTable(asker(2)))
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		e := listen(t, s)
		submit(t, s, say("go"))
		submit(t, s, replies(until[hermes.Asked](e).ID, "first"))
		submit(t, s, hermes.Stop{})
		until[hermes.TurnDone](e)
		submit(t, s, hermes.Continue{})
		if q := until[hermes.Asked](e); q.Question.Text != "question 2" {
			t.Fatalf("asked %+v", q.Question)
		}
	}
}

func TestAQuestionWaitsItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, hermestest.NewScript(hermestest.CallTool("clarify", `{}`), hermestest.Say("guessed")), newToolTable(asker(2)),
			func(c *session.Config) { c.Ask = session.AskTimes{Approval: time.Second, Question: time.Hour} })
		s := h.open(t, session.Open{From: hermes.From{Attends: true}})
		e := attend(t, s)
		submit(t, s, say("go"))
		q := until[hermes.Asked](e)
		time.Sleep(59 * time.Minute) // of the bubble's clock
		submit(t, s, replies(q.ID, "just in time"))
		until[hermes.Asked](e)
		time.Sleep(61 * time.Minute)
		until[hermes.TurnDone](e)
		if got := stored(t, h.store, s.ID())[2]; got != "tool: not answered" {
			t.Error(got)
		}
		s.Close()
	})
}
