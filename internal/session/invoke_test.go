package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// invokes is a tool that runs another one.
func invokes(name string) tool {
	return tool{hermes.Spec{Name: "script", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := c.Host.Invoke(ctx, name, json.RawMessage(`{}`))
		if err != nil {
			return hermes.ErrorResult(err.Error())
		}
		return hermes.Result{Text: "it said: " + r.Text}
	}}
}

// TestInvokedCallTakesTheWholeWay has a tool that runs one that asks for approval: the
// journal has both while it asks, nothing of the second has run, and the result of the
// first closes both.
func TestInvokedCallTakesTheWholeWay(t *testing.T) {
	t.Parallel()
	rm := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID})
		if err != nil {
			return hermes.ErrorResult(err.Error())
		}
		return hermes.Result{Text: string(answer.Decision), Provenance: "rm page"}
	}}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("script", `{}`), hermestest.Say("ok")), newToolTable(invokes("rm"), rm))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	q := until[hermes.Asked](e)
	steps, err := h.store.OpenSteps(t.Context(), s.ID())
	if err != nil || len(steps) != 2 {
		t.Fatalf("the journal has %+v, %v", steps, err)
	}
	parent, child := steps[0], steps[1]
	if child.Call.ID != parent.Call.ID+"/1" || child.Call.Name != "rm" || !child.Pending.AwaitingApproval || parent.Pending.AwaitingApproval || q.Approval.CallID != child.Call.ID {
		t.Errorf("the journal has %+v, asked %+v", steps, q.Approval)
	}
	submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
	until[hermes.TurnDone](e)
	var events []string
	for _, got := range e.heard {
		switch got := got.(type) {
		case hermes.CallStarted:
			events = append(events, "start "+got.Call.Name)
		case hermes.CallDone:
			events = append(events, "done "+got.Call.Name)
		}
	}
	if want := []string{"start script", "start rm", "done rm", "done script"}; !slices.Equal(events, want) {
		t.Errorf("events %q", events)
	}
	list := transcript(t, h.store, s.ID())
	if len(list) != 4 || list[2].Text() != "it said: once" || list[2].Provenance != "rm page" {
		t.Errorf("stored %+v", list)
	}
	if steps, err = h.store.OpenSteps(t.Context(), s.ID()); err != nil || len(steps) > 0 {
		t.Errorf("the journal still has %+v, %v", steps, err)
	}
}

// TestACrashLeavesNoInvokedCall resumes a session whose process died in an invoked call.
func TestACrashLeavesNoInvokedCall(t *testing.T) {
	t.Parallel()
	st, l := crashed(t, toolCall("1", "script"))
	begun(t, st, l, toolCall("1", "script"), hermes.PendingCall{})
	begun(t, st, l, toolCall("1/1", "rm"), hermes.PendingCall{AwaitingApproval: true})
	h := newFixture(t, hermestest.NewScript(hermestest.Say("ok")), newToolTable(invokes("rm"), echo("rm")), func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	turnOf(t, s, say("go on"))
	if got := stored(t, st, "s1"); !strings.Contains(got[2], "outcome is unknown") {
		t.Errorf("stored %q", got)
	}
	if steps, err := st.OpenSteps(t.Context(), "s1"); err != nil || len(steps) > 0 {
		t.Errorf("the journal still has %+v, %v", steps, err)
	}
}

// TestQuestionOfAnInvokedCallEndsWithItsTurn stops a turn while a call asks that another
// one invoked: it cannot be asked again without the other.
func TestQuestionOfAnInvokedCallEndsWithItsTurn(t *testing.T) {
	t.Parallel()
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("script", `{}`), hermestest.Say("ok")), newToolTable(invokes("clarify"), asker(1)))
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.Asked](e)
	submit(t, s, hermes.Stop{})
	if done := until[hermes.CallDone](e); done.Call.Name != "clarify" {
		t.Errorf("the first call that is done is %+v", done.Call)
	}
	until[hermes.TurnDone](e)
	if list := transcript(t, h.store, s.ID()); len(hermes.OpenCalls(list)) > 0 {
		t.Errorf("open calls in %+v", list)
	}
	if st, err := s.State(t.Context()); err != nil || st.Asking {
		t.Errorf("asking %v, %v", st.Asking, err)
	}
}

// TestJournalKnowsWhatInvokedCallsRead looks into the journal when the call has ended and
// its result is not in the transcript yet.
func TestJournalKnowsWhatInvokedCallsRead(t *testing.T) {
	t.Parallel()
	var steps []hermes.Step
	var h *fixture
	look := echo("look")
	look.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		steps, _ = h.store.OpenSteps(ctx, c.Host.Session().ID)
		return hermes.Result{Text: "looked"}
	}
	both := hermestest.Step{Calls: []hermes.ToolCall{toolCall("1", "script"), toolCall("2", "look")}}
	h = newFixture(t, hermestest.NewScript(both, hermestest.Say("ok")), newToolTable(invokes("fetch"), fetch(), look))
	turnOf(t, h.open(t, session.Open{}), say("go"))
	if len(steps) == 0 || steps[0].Call.Name != "script" || steps[0].Result == nil || steps[0].Result.Provenance != "fetch page" {
		t.Errorf("the journal had %+v", steps)
	}
}
