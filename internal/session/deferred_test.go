package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

// lateGroup is a toolset of which nothing is listed: all of it came late.
type lateGroup struct{ group }

func (lateGroup) Name() string                                 { return "test" }
func (lateGroup) Tools(context.Context) ([]hermes.Tool, error) { return nil, nil }
func (g lateGroup) Live() ([]hermes.Tool, bool)                { return g.group, true }

// newLateTable returns a toolbox of tools that came late.
func newLateTable(t *testing.T, tools ...tool) *toolTable {
	t.Helper()
	var g group
	for _, t := range tools {
		g = append(g, t)
	}
	set, err := toolset.NewCatalogue([]hermes.Toolset{lateGroup{g}}, nil, nil).Select(t.Context(), toolset.Selection{Enabled: []string{"test"}})
	if err != nil {
		t.Fatal(err)
	}
	return &toolTable{Toolbox: toolbox.New(toolbox.Options{Set: set, Guardrail: toolbox.Guardrail{Quiet: true}})}
}

// forwarding is a call of a late tool.
func forwarding(id, name string) hermes.ToolCall {
	return hermes.ToolCall{ID: id, Name: hermes.ForwardTool, Arguments: `{"name":"` + name + `","arguments":{}}`}
}

func counted(name string, effect hermes.Effect, ran *atomic.Int32) tool {
	return tool{hermes.Spec{Name: name, Effect: effect, Schema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *hermes.Call) hermes.Result {
		ran.Add(1)
		return hermes.Result{Text: "did " + name}
	}}
}

// TestACrashInALateToolIsThatOfTheTool: one that only reads runs again after a crash, one that was begun and
// may have changed something does not.
func TestACrashInALateToolIsThatOfTheTool(t *testing.T) {
	t.Parallel()
	var read, write, again atomic.Int32
	st, l := crashed(t, forwarding("1", "read"), forwarding("2", "write"), forwarding("3", "again"), forwarding("4", "write"))
	begun(t, st, l, toolCall("2", "write"), hermes.PendingCall{})
	begun(t, st, l, toolCall("3", "again"), hermes.PendingCall{})
	tools := newLateTable(t, counted("read", hermes.EffectNone, &read), counted("write", 0, &write), counted("again", hermes.EffectIdempotent, &again))
	h := newFixture(t, hermestest.NewScript(hermestest.Say("ok")), tools, func(c *session.Config) { c.Store = st })
	s := h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}})
	turnOf(t, s, say("go on"))
	if read.Load() != 1 || write.Load() != 0 || again.Load() != 1 {
		t.Errorf("ran: read %d, write %d, again %d", read.Load(), write.Load(), again.Load())
	}
	got := stored(t, st, "s1")
	for i, want := range []string{"did read", "outcome is unknown", "did again", "stopped before this ran"} {
		if !strings.Contains(got[2+i], want) {
			t.Errorf("result %d is %q, want %q", i, got[2+i], want)
		}
	}
	if steps, err := st.OpenSteps(t.Context(), "s1"); err != nil || len(steps) > 0 {
		t.Errorf("the journal still has %+v, %v", steps, err)
	}
}

// TestALateToolIsShownAndJournaledAsItself: events and the journal name the tool; the transcript has what the
// model wrote, so that services see the result of the call that they know.
func TestALateToolIsShownAndJournaledAsItself(t *testing.T) {
	t.Parallel()
	rm := tool{hermes.Spec{Name: "rm", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		answer, err := c.Host.Approve(ctx, hermes.ApprovalRequest{CallID: c.ID, Tool: c.Name})
		if err != nil {
			return hermes.ErrorResult(err.Error())
		}
		return hermes.Result{Text: string(answer.Decision) + " " + string(c.Arguments)}
	}}
	wrote := `{"name":"rm","arguments":{"path":"/tmp/x"}}`
	ended := &ends{Store: hermestest.NewStore()}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool(hermes.ForwardTool, wrote), hermestest.Say("ok")), newLateTable(t, rm), func(c *session.Config) { c.Store = ended })
	s := h.open(t, session.Open{From: hermes.From{Attends: true}})
	e := listen(t, s)
	submit(t, s, say("go"))
	q := until[hermes.Asked](e)
	steps, err := h.store.OpenSteps(t.Context(), s.ID())
	if err != nil || len(steps) != 1 || steps[0].Call.Name != "rm" || steps[0].Call.Arguments != `{"path":"/tmp/x"}` || !steps[0].Pending.AwaitingApproval {
		t.Fatalf("the journal has %+v, %v", steps, err)
	}
	submit(t, s, hermes.Reply{ID: q.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.AllowOnce}})
	until[hermes.TurnDone](e)
	var events []string
	for _, got := range e.heard {
		switch got := got.(type) {
		case hermes.CallStarted:
			events = append(events, "start "+got.Call.Name+" "+got.Preview)
		case hermes.CallDone:
			events = append(events, "done "+got.Call.Name+" "+got.Preview)
		}
	}
	if want := []string{"start rm /tmp/x", "done rm /tmp/x"}; !slices.Equal(events, want) {
		t.Errorf("events %q", events)
	}
	list := transcript(t, h.store, s.ID())
	if len(list) != 4 || list[1].Calls[0].Name != hermes.ForwardTool || list[1].Calls[0].Arguments != wrote || list[2].ToolName != hermes.ForwardTool || list[2].Text() != `once {"path":"/tmp/x"}` {
		t.Errorf("stored %+v", list)
	}
	if steps, err = h.store.OpenSteps(t.Context(), s.ID()); err != nil || len(steps) > 0 {
		t.Errorf("the journal still has %+v, %v", steps, err)
	}
	if got := ended.name.Load(); got != hermes.ForwardTool {
		t.Errorf("after a crash the result would be that of %v", got)
	}
}

// ends is a store that keeps the tool of the last result in its journal.
type ends struct {
	hermes.Store
	name atomic.Value
}

func (e *ends) EndCall(ctx context.Context, l hermes.Lease, id string, result hermes.Message) error {
	e.name.Store(result.ToolName)
	return e.Store.EndCall(ctx, l, id, result)
}

// TestAHostListsWhatIsDeferred: tools that the model was offered as they are now are left out.
func TestAHostListsWhatIsDeferred(t *testing.T) {
	t.Parallel()
	var callable, deferred []string
	look := tool{hermes.Spec{Name: "look", Schema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, c *hermes.Call) hermes.Result {
		for _, s := range c.Host.(hermes.ToolLister).Tools() {
			callable = append(callable, s.Name)
		}
		for _, g := range c.Host.(hermes.DeferringHost).Deferred() {
			for _, s := range g.Tools {
				deferred = append(deferred, g.Toolset+" "+s.Name)
			}
		}
		return hermes.Result{Text: "looked"}
	}}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("look", `{}`), hermestest.Say("ok")), newLateTable(t, look, echo("other")))
	turnOf(t, h.open(t, session.Open{}), say("go"))
	if !slices.Equal(callable, []string{"look", "other"}) || !slices.Equal(deferred, []string{"test look", "test other"}) {
		t.Errorf("callable %q, deferred %q", callable, deferred)
	}
}
