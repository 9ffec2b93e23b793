package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/session"
)

// TestAChildHasNoMoreThanItsParent compares the spec of a child with that of its parent.
func TestAChildHasNoMoreThanItsParent(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task       hermes.Task
		model      string
		enabled    []string
		steps      int
		parentSays int
	}{
		"as its parent":   {hermes.Task{Goal: "g"}, "script:test", []string{"delegate", "other"}, 4, 5},
		"narrower":        {hermes.Task{Goal: "g", Model: "p:small", Toolsets: []string{"other"}, MaxSteps: 2}, "p:small", []string{"other"}, 2, 5},
		"wider":           {hermes.Task{Goal: "g", Toolsets: []string{"terminal"}, MaxSteps: 90}, "script:test", []string{"terminal"}, 4, 5},
		"without a limit": {hermes.Task{Goal: "g", MaxSteps: 7}, "script:test", []string{"delegate", "other"}, 7, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			delegate := tool{hermes.Spec{Name: "delegate", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
				r, err := c.Host.Spawn(ctx, tt.task)
				if err != nil {
					t.Error(err)
				}
				return hermes.Result{Text: r.Summary}
			}}
			m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("a child"), hermestest.Say("done"))
			var runs []hermes.RunSpec
			h := newFixture(t, m, newToolTable(delegate, echo("other")), func(c *session.Config) {
				next := c.NewRuntime
				c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
					runs = append(runs, run)
					return next(ctx, run)
				}
			})
			parent := hermes.RunSpec{
				Origin: hermes.Origin{Platform: "telegram", Label: "bot", User: "7"}, Workspace: hermes.Workspace{Dir: "/work"},
				Tools: hermes.ToolChoice{Disabled: []string{"web"}}, Rights: hermes.Rights{Approver: hermes.ApproverManual, Risks: []string{"delete"}, Allow: []string{"todo"}},
				Model: hermes.ModelChoice{Effort: hermes.EffortLow, MaxTokens: 100}, Prompt: hermes.PromptChoice{IgnoreRules: true, MemoryScope: "user"},
				Budget: hermes.RunBudget{Steps: tt.parentSays, Money: hermes.USD(1)},
			}
			s := h.open(t, session.Open{Run: parent, From: hermes.From{Attends: true}})
			turnOf(t, s, say("go"))
			want := parent
			want.Session = runs[1].Session
			want.Origin = hermes.Origin{
				Platform: "subagent", User: "7", Root: "telegram", RootID: s.ID(), Parent: s.ID(), Depth: 1,
				Task: hermes.TaskOrigin{Steps: tt.steps, Cost: hermes.USD(1)},
			}
			want.Model.Ref = tt.model
			want.Tools = hermes.ToolChoice{Enabled: tt.enabled, Disabled: []string{"web"}, Only: []string{"delegate", "other"}}
			want.Budget.Steps = tt.steps
			if diff := cmp.Diff(want, runs[1]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDepthCountsTheSessionsAbove: a child of a child is deeper than its parent.
func TestDepthCountsTheSessionsAbove(t *testing.T) {
	t.Parallel()
	delegate := tool{hermes.Spec{Name: "delegate", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		role := hermes.RoleOrchestrator
		if c.Host.Session().Depth > 0 {
			role = hermes.RoleLeaf
		}
		r, err := c.Host.Spawn(ctx, hermes.Task{Goal: "g", Role: role})
		return hermes.Result{Text: fmt.Sprint(c.Host.Session().Depth, r.Summary, err)}
	}}
	m := hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.CallTool("delegate", `{}`),
		hermestest.Say("a grandchild"), hermestest.Say("a child"), hermestest.Say("done"))
	var depths []int
	h := newFixture(t, m, newToolTable(delegate), func(c *session.Config) {
		c.Children.Depth = 2
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			depths = append(depths, run.Origin.Depth)
			return next(ctx, run)
		}
	})
	s := h.open(t, session.Open{})
	turnOf(t, s, say("go"))
	if diff := cmp.Diff([]int{0, 1, 2}, depths); diff != "" {
		t.Error(diff)
	}
}

func TestNoChildWithoutAStepLeft(t *testing.T) {
	t.Parallel()
	var err error
	delegate := tool{hermes.Spec{Name: "delegate", Schema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, c *hermes.Call) hermes.Result {
		_, err = c.Host.Spawn(ctx, hermes.Task{Goal: "g"})
		return hermes.Result{Text: "refused", Failed: true}
	}}
	h := newFixture(t, hermestest.NewScript(hermestest.CallTool("delegate", `{}`), hermestest.Say("no steps are left")), newToolTable(delegate))
	s := h.open(t, session.Open{Run: hermes.RunSpec{Budget: hermes.RunBudget{Steps: 1}}})
	e := listen(t, s)
	submit(t, s, say("go"))
	until[hermes.TurnDone](e)
	if err == nil || !strings.Contains(err.Error(), "no steps are left") {
		t.Errorf("err %v", err)
	}
}

// TestASessionKeepsItsToolsPromptAndBackend opens a stored session with the same options, with none
// and with others.
func TestASessionKeepsItsToolsPromptAndBackend(t *testing.T) {
	t.Parallel()
	stored := hermes.RunSpec{
		Origin: hermes.Origin{Platform: "cli", Label: "mine"}, Workspace: hermes.Workspace{Dir: "/work"},
		Tools:  hermes.ToolChoice{Enabled: []string{"file"}, Disabled: []string{"web"}},
		Prompt: hermes.PromptChoice{Extra: "Be kind.", Skills: []string{"x"}, PassSessionID: true},
	}
	var last hermes.RunSpec
	h := newFixture(t, hermestest.NewScript(hermestest.Say("yes")), newToolTable(), func(c *session.Config) {
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			last = run
			return next(ctx, run)
		}
	})
	s := h.open(t, session.Open{Run: stored})
	turnOf(t, s, say("hello"))
	s.Close()
	for backend, want := range map[string][]string{"local": nil, "docker": {"Workspace.Backend"}} {
		again, err := h.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID(), Workspace: hermes.Workspace{Backend: backend}}})
		if fixed, _ := errors.AsType[hermes.ErrFixed](err); !slices.Equal(fixed.Parts, want) {
			t.Errorf("%s: %+v, %v", backend, fixed, err)
		}
		if err == nil {
			again.Close()
		}
	}
	other := hermes.RunSpec{
		Origin: hermes.Origin{Platform: "oneshot", Label: "theirs", User: "7"}, Workspace: hermes.Workspace{Dir: "/else"},
		Model:  hermes.ModelChoice{Ref: "p:other", MaxTokens: 7},
		Rights: hermes.Rights{Mode: hermes.ModeYolo}, Budget: hermes.RunBudget{Steps: 3, Money: hermes.USD(2)},
	}
	for name, tt := range map[string]struct {
		tools  hermes.ToolChoice
		prompt hermes.PromptChoice
		parts  []string
	}{
		"none":           {},
		"an empty list":  {tools: hermes.ToolChoice{Enabled: []string{}}},
		"some, the same": {hermes.ToolChoice{Enabled: []string{"file"}}, hermes.PromptChoice{Skills: []string{"x"}}, nil},
		"other tools":    {tools: hermes.ToolChoice{Enabled: []string{"web"}}, parts: []string{"Tools.Enabled"}},
		"fewer tools":    {tools: hermes.ToolChoice{Disabled: []string{"file"}}, parts: []string{"Tools.Disabled"}},
		"rules":          {prompt: hermes.PromptChoice{IgnoreRules: true, Skills: []string{"x"}}, parts: []string{"Prompt.IgnoreRules"}},
		"both": {hermes.ToolChoice{Enabled: []string{"web"}}, hermes.PromptChoice{Skills: []string{"y"}, MemoryScope: "shared"},
			[]string{"Tools.Enabled", "Prompt.Skills", "Prompt.MemoryScope"}},
	} {
		other.Session, other.Tools, other.Prompt = s.ID(), tt.tools, tt.prompt
		again, err := h.Open(t.Context(), session.Open{Run: other})
		if fixed, ok := errors.AsType[hermes.ErrFixed](err); ok {
			if !slices.Equal(fixed.Parts, tt.parts) || fixed.Session != s.ID() {
				t.Errorf("%s: %+v", name, fixed)
			}
			continue
		}
		if err != nil || tt.parts != nil {
			t.Errorf("%s: opened, %v", name, err)
			continue
		}
		again.Close()
		want := other
		want.Origin, want.Workspace, want.Tools, want.Prompt = stored.Origin, stored.Workspace, stored.Tools, stored.Prompt
		if diff := cmp.Diff(want, last); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestUnknownModesAreRefused(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil, newToolTable())
	want := `unknown mode "all"; use ask, plan, accept-edits or yolo`
	if _, err := h.Open(t.Context(), session.Open{Run: hermes.RunSpec{Rights: hermes.Rights{Mode: "all"}}}); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestANewSessionWorksWhereTheProgramSays: the answer is stored, and the row keeps the folder in which the user
// began it. A stored session is not asked about again.
func TestANewSessionWorksWhereTheProgramSays(t *testing.T) {
	t.Parallel()
	there := hermes.Workspace{Dir: "/there", Backend: "docker"}
	var last hermes.RunSpec
	asked, fault := 0, error(nil)
	h := newFixture(t, hermestest.NewScript(hermestest.Say("yes"), hermestest.Say("again")), newToolTable(), func(c *session.Config) {
		next := c.NewRuntime
		c.NewRuntime = func(ctx context.Context, run hermes.RunSpec) (*session.Runtime, error) {
			last = run
			return next(ctx, run)
		}
		c.Workspace = func(hermes.RunSpec) (hermes.Workspace, error) {
			asked++
			return there, fault
		}
	})
	s := h.open(t, session.Open{Run: hermes.RunSpec{Workspace: hermes.Workspace{Dir: "/work"}}})
	turnOf(t, s, say("hello"))
	s.Close()
	row, err := h.store.FindSession(t.Context(), s.ID())
	if err != nil || row.Dir != "/work" || row.Run.Workspace != there || last.Workspace != there || s.Workspace() != there {
		t.Errorf("%q %+v %+v, %v", row.Dir, row.Run.Workspace, last.Workspace, err)
	}
	s = h.open(t, session.Open{Run: hermes.RunSpec{Session: s.ID(), Workspace: hermes.Workspace{Dir: "/work"}}})
	turnOf(t, s, say("hello"))
	if last.Workspace != there || asked != 1 {
		t.Errorf("resumed in %+v, asked %d times", last.Workspace, asked)
	}
	s.Close()
	fault = errors.New("it is down")
	if _, err := h.Open(t.Context(), session.Open{}); !errors.Is(err, fault) {
		t.Error(err)
	}
}
