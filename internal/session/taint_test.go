package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/agent"
	"hermes/internal/session"
)

// fetch is a tool that returns untrusted text.
func fetch() tool {
	f := echo("fetch")
	f.run = func(context.Context, *hermes.Call) hermes.Result {
		return hermes.Result{Text: "a page", Provenance: "fetch page"}
	}
	return f
}

// spy is a tool that records its session's provenance.
func spy(seen *[]string) tool {
	s := echo("spy")
	s.run = func(_ context.Context, c *hermes.Call) hermes.Result {
		*seen = append(*seen, c.Host.Session().Provenance)
		return hermes.Result{Text: "noted"}
	}
	return s
}

// calls is a script of turns: each calls the tools named and ends in words.
func calls(turns ...[]string) *hermestest.Script {
	var steps []hermestest.Step
	for _, turn := range turns {
		for _, name := range turn {
			steps = append(steps, hermestest.CallTool(name, `{}`))
		}
		steps = append(steps, hermestest.Say("done"))
	}
	return hermestest.NewScript(steps...)
}

func spying() []string { return []string{"spy"} }

func turnOf(t *testing.T, s *session.Session, op hermes.Op) {
	t.Helper()
	e := listen(t, s)
	submit(t, s, op)
	if done := until[hermes.TurnDone](e); done.Outcome != hermes.OutcomeDone {
		t.Fatalf("done %+v", done)
	}
}

func wantSeen(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("seen %q, want %q", *got, want)
	}
	*got = nil
}

func TestTaintStays(t *testing.T) {
	t.Parallel()
	var seen []string
	st := hermestest.NewStore()
	on := func(c *session.Config) { c.Store = st }
	h := newFixture(t, calls([]string{"spy", "fetch", "spy"}, spying()), newToolTable(fetch(), spy(&seen)), on)
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	wantSeen(t, &seen, "", "fetch page")
	turnOf(t, s, say("again"))
	wantSeen(t, &seen, "fetch page")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if list := transcript(t, st, s.ID()); hermes.TranscriptProvenance(list) != "fetch page" || list[4].Provenance != "fetch page" {
		t.Errorf("stored %+v", list)
	}

	later := newFixture(t, calls(spying(), spying(), spying()), newToolTable(fetch(), spy(&seen)), on)
	s = later.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}})
	turnOf(t, s, say("after a restart"))
	wantSeen(t, &seen, "fetch page")
	row, err := later.Branch(t.Context(), s.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	branch := later.open(t, session.Open{Run: hermes.RunSpec{Session: row.ID}})
	turnOf(t, branch, say("in a branch"))
	wantSeen(t, &seen, "fetch page")
	for range 3 {
		submit(t, s, hermes.Undo{})
	}
	turnOf(t, s, say("all is taken back"))
	wantSeen(t, &seen, "")
}

func TestThePromptMayHoldUntrustedText(t *testing.T) {
	t.Parallel()
	var seen []string
	st := hermestest.NewStore()
	h := newFixture(t, calls(spying(), spying()), newToolTable(spy(&seen)), func(c *session.Config) { c.Store = st })
	h.provenance = "project file AGENTS.md"
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h.provenance = "" // the stored prompt counts, whatever would be built today
	turnOf(t, h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}}), say("again"))
	wantSeen(t, &seen, "project file AGENTS.md", "project file AGENTS.md")
}

func TestAMessageMayHoldUntrustedText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		part hermes.Part
		want string
	}{
		"words":         {hermes.Part{Text: "more"}, ""},
		"an attachment": {hermes.Part{Text: "of a file", Hidden: true, Provenance: "@file:a"}, "@file:a"},
		"a picture":     {hermes.Part{Image: &hermes.Image{URL: "https://x/y.png"}}, "a picture"},
	} {
		var seen []string
		h := newFixture(t, calls(spying(), spying()), newToolTable(spy(&seen)))
		s := h.open(t, session.Open{})
		turnOf(t, s, hermes.Say{Parts: []hermes.Part{{Text: "look"}, tt.part}})
		turnOf(t, s, hermes.Retry{})
		if !slices.Equal(seen, []string{tt.want, tt.want}) {
			t.Errorf("%s: seen %q, want %q at first and after a retry", name, seen, tt.want)
		}
	}
}

func TestRecalledTextHasItsProvenance(t *testing.T) {
	t.Parallel()
	var seen []string
	recall := func(context.Context, hermes.RecallQuery) (hermes.Recalled, error) {
		return hermes.Recalled{Text: "likes tea", Provenance: "memory service x"}, nil
	}
	h := newFixture(t, calls(spying()), newToolTable(spy(&seen)), remembering(recall, nil))
	turnOf(t, h.open(t, session.Open{}), say("what do I like?"))
	wantSeen(t, &seen, "memory service x")
}

// forgetful is an engine that replaces everything but the last message by one
// sentence without provenance.
type forgetful struct{}

func (forgetful) Name() string { return "forgetful" }
func (forgetful) Fit(_ context.Context, list []hermes.Message, p hermes.ContextUsage) (hermes.CompactResult, error) {
	if !p.Demand || len(list) < 3 {
		return hermes.CompactResult{Messages: list}, nil
	}
	last := len(list) - 1
	return hermes.CompactResult{
		Messages: []hermes.Message{hermes.UserText("summary"), list[last]},
		From:     []hermes.MessageOrigin{{Index: 0}, {Index: last, Same: true}},
	}, nil
}

func TestASummaryInheritsWhatItIsMadeOf(t *testing.T) {
	t.Parallel()
	var seen []string
	st := hermestest.NewStore()
	compacting := func(c *session.Config) {
		c.Store = st
		newRuntime := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			runtime, err := newRuntime(ctx, run)
			runtime.Context = forgetful{}
			return runtime, err
		}
	}
	h := newFixture(t, calls([]string{"fetch"}, spying(), spying()), newToolTable(fetch(), spy(&seen)), compacting)
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	turnOf(t, s, hermes.Compress{})
	if list := transcript(t, st, s.ID()); len(list) != 2 || list[0].Provenance != "fetch page" || list[1].Provenance != "" {
		t.Fatalf("stored %+v", list)
	}
	turnOf(t, s, say("again"))
	wantSeen(t, &seen, "fetch page")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	turnOf(t, h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID()}}), say("and after a restart"))
	wantSeen(t, &seen, "fetch page")
}

// delegate is a tool that runs a task in a child session.
func delegate(t *testing.T) tool {
	d := echo("delegate")
	d.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "help"})
		if err != nil {
			t.Error(err)
		}
		return hermes.Result{Text: r.Summary}
	}
	return d
}

func TestChildrenInheritAndReport(t *testing.T) {
	t.Parallel()
	t.Run("a child knows what its parent has seen", func(t *testing.T) {
		t.Parallel()
		var seen []string
		m := hermestest.NewScript(hermestest.CallTool("fetch", `{}`), hermestest.CallTool("delegate", `{}`),
			hermestest.CallTool("spy", `{}`), hermestest.Say("the child's report"), hermestest.Say("done"))
		h := newFixture(t, m, newToolTable(fetch(), delegate(t), spy(&seen)))
		turnOf(t, h.open(t, session.Open{}), say("go"))
		wantSeen(t, &seen, "fetch page")
	})
	t.Run("a parent knows what its child has seen", func(t *testing.T) {
		t.Parallel()
		var seen []string
		m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`),
			hermestest.CallTool("fetch", `{}`), hermestest.Say("the child's report"),
			hermestest.CallTool("spy", `{}`), hermestest.Say("done"))
		h := newFixture(t, m, newToolTable(fetch(), delegate(t), spy(&seen)))
		s := h.open(t, session.Open{})
		turnOf(t, s, say("go"))
		wantSeen(t, &seen, "fetch page")
		if list := transcript(t, h.store, s.ID()); list[2].Provenance != "fetch page" {
			t.Errorf("the report is stored as %+v", list[2])
		}
	})
	t.Run("an untainted child does not taint its parent", func(t *testing.T) {
		t.Parallel()
		var seen []string
		m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("nothing found"),
			hermestest.CallTool("spy", `{}`), hermestest.Say("done"))
		h := newFixture(t, m, newToolTable(delegate(t), spy(&seen)))
		turnOf(t, h.open(t, session.Open{}), say("go"))
		wantSeen(t, &seen, "")
	})
}

// TestAToolThatCallsToolsInheritsTheirProvenance has one call read and write.
func TestAToolThatCallsToolsInheritsTheirProvenance(t *testing.T) {
	t.Parallel()
	var seen []string
	script := echo("script")
	script.run = func(ctx context.Context, c *hermes.Call) hermes.Result {
		for _, name := range []string{"spy", "fetch", "spy"} {
			if _, err := c.Host.Invoke(ctx, name, json.RawMessage(`{}`)); err != nil {
				t.Error(err)
			}
		}
		return hermes.Result{Text: "ran"}
	}
	h := newFixture(t, calls([]string{"script"}), newToolTable(fetch(), script, spy(&seen)))
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	wantSeen(t, &seen, "", "fetch page")
	if list := transcript(t, h.store, s.ID()); list[2].Provenance != "fetch page" {
		t.Errorf("the result is stored as %+v", list[2])
	}
}

// TestAResultThatACrashLeftIsStillUntrusted has its result in the journal.
func TestAResultThatACrashLeftIsStillUntrusted(t *testing.T) {
	t.Parallel()
	asked := hermes.ToolCall{ID: "1", Name: "fetch", Arguments: "{}"}
	st, l := crashed(t, asked)
	if err := st.BeginCall(t.Context(), l, asked); err != nil {
		t.Fatal(err)
	}
	result := hermes.Message{Role: hermes.RoleTool, CallID: "1", ToolName: "fetch", Provenance: "fetch page", Parts: []hermes.Part{{Text: "a page"}}}
	if err := st.EndCall(t.Context(), l, "1", result); err != nil {
		t.Fatal(err)
	}
	var seen []string
	h := newFixture(t, calls(spying()), newToolTable(fetch(), spy(&seen)), func(c *session.Config) { c.Store = st })
	turnOf(t, h.open(t, session.Open{Run: hermes.RunSpec{Session: "s1"}}), hermes.Continue{})
	wantSeen(t, &seen, "fetch page")
}

func TestSideTaskInheritsTheTaintOfItsSession(t *testing.T) {
	t.Parallel()
	var seen []string
	for range (agent.SideTask{
		Model: calls([]string{"spy", "fetch", "spy"}), Tools: newToolTable(fetch(), spy(&seen)), Prompt: "look back",
		Session: hermes.SessionRef{ID: "s", Provenance: "terminal make"},
	}).Run(t.Context()) {
	}
	wantSeen(t, &seen, "terminal make", "terminal make; fetch page")
}
