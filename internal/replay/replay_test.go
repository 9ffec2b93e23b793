package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/replay"
)

// step is one call of a recorded turn: its arguments, its result, and whether
// it failed.
type step struct {
	tool, arguments, result string
	failed                  bool
}

// hard is a build that was hard to get right: two failures, then the fix.
var hard = []step{
	{"terminal", `{"command":"make"}`, "no such target", true},
	{"terminal", `{"command":"make build"}`, "TAGS is not set", true},
	{"read_file", `{"path":"Makefile"}`, "TAGS ?= ", false},
	{"write_file", `{"path":"config.mk","content":"TAGS=x"}`, "written", false},
	{"terminal", `{"command":"make build"}`, "ok", false},
}

func transcript(turn int64, steps ...step) []hermes.Message {
	ask := hermes.UserText("make it build")
	ask.Turn = turn
	list := []hermes.Message{ask}
	for i, s := range steps {
		id := string(rune('a' + i))
		list = append(list,
			hermes.Message{Role: hermes.RoleAssistant, Turn: turn, Calls: []hermes.ToolCall{{ID: id, Name: s.tool, Arguments: s.arguments}}},
			hermes.Message{Role: hermes.RoleTool, Turn: turn, CallID: id, ToolName: s.tool, Failed: s.failed, Parts: []hermes.Part{{Text: s.result}}})
	}
	return append(list, hermes.Message{Role: hermes.RoleAssistant, Turn: turn, Parts: []hermes.Part{{Text: "It builds: TAGS was missing."}}})
}

func record(t *testing.T, steps ...step) replay.Recording {
	t.Helper()
	r, ok := replay.Record(replay.Source{
		Session: "s", Transcript: transcript(1, steps...), Turn: 1, Omit: []string{"memory"},
		Changes: func(c hermes.ToolCall) bool { return c.Name != "read_file" },
	})
	if !ok {
		t.Fatal("no task was found")
	}
	return r
}

// plays asks for the calls of the places in hard and then answers.
func plays(end string, calls ...int) []hermestest.Step {
	var out []hermestest.Step
	for _, n := range calls {
		if n < 0 {
			out = append(out, hermestest.CallTool("terminal", `{"command":"guess"}`))
			continue
		}
		out = append(out, hermestest.CallTool(hard[n].tool, hard[n].arguments))
	}
	return append(out, hermestest.Say(end))
}

func join(lists ...[]hermestest.Step) (all []hermestest.Step) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

var (
	yes    = []hermestest.Step{hermestest.Say("YES")}
	no     = []hermestest.Step{hermestest.Say("**NO**\nit only claims so")}
	direct = []int{3, 4}
	long   = []int{0, 1, 2, 3, 4}
)

func TestVerdicts(t *testing.T) {
	t.Parallel()
	down := []hermestest.Step{hermestest.Fail(&hermes.ModelError{Class: hermes.ClassAuth, Message: "no such key"})}
	capped := []hermestest.Step{hermestest.Fail(&hermes.ModelError{Class: hermes.ClassBudget, Message: "the cap of the day is reached"})}
	for name, c := range map[string]struct {
		steps []hermestest.Step
		want  hermes.SkillTrial
		why   string
		harm  bool
	}{
		"the short way wins": {
			steps: join(plays("built", direct...), yes, plays("built", long...), yes),
			want:  hermes.SkillTrial{Verdict: hermes.SkillWon, With: hermes.SkillRun{Reached: true, Steps: 3}, Without: hermes.SkillRun{Reached: true, Steps: 6, Failed: 2}},
			why:   "3 steps instead of 6, 0 failed calls instead of 2",
		},
		"the same way loses": {
			steps: join(plays("built", long...), yes, plays("built", long...), yes),
			want:  hermes.SkillTrial{Verdict: hermes.SkillLost, With: hermes.SkillRun{Reached: true, Steps: 6, Failed: 2}, Without: hermes.SkillRun{Reached: true, Steps: 6, Failed: 2}},
			why:   "no difference",
		},
		"more failures harm": {
			steps: join(plays("built", 0, 1, 3, 4), yes, plays("built", direct...), yes),
			want:  hermes.SkillTrial{Verdict: hermes.SkillLost, With: hermes.SkillRun{Reached: true, Steps: 5, Failed: 2}, Without: hermes.SkillRun{Reached: true, Steps: 3}},
			why:   "2 failed calls instead of 0", harm: true,
		},
		"a claim without calls does not count": {
			steps: join(plays("built"), plays("built", long...), yes), // the file was not touched: no comparison
			want:  hermes.SkillTrial{Verdict: hermes.SkillLost, With: hermes.SkillRun{Steps: 1}, Without: hermes.SkillRun{Reached: true, Steps: 6, Failed: 2}},
			why:   "only the run without it", harm: true,
		},
		"another outcome does not count": {
			steps: join(plays("built", direct...), yes, plays("gave up", direct...), no),
			want:  hermes.SkillTrial{Verdict: hermes.SkillWon, With: hermes.SkillRun{Reached: true, Steps: 3}, Without: hermes.SkillRun{Steps: 3}},
			why:   "only the run with it",
		},
		"unknown calls count": {
			steps: join(plays("built", -1, 3, 4), yes, plays("built", direct...), yes),
			want:  hermes.SkillTrial{Verdict: hermes.SkillLost, With: hermes.SkillRun{Reached: true, Steps: 4, Missed: 1}, Without: hermes.SkillRun{Reached: true, Steps: 3}},
			why:   "1 unknown call instead of 0",
		},
		"neither reaches the outcome": {
			steps: join(plays("no"), plays("no")),
			want:  hermes.SkillTrial{Verdict: hermes.SkillUndecided, With: hermes.SkillRun{Steps: 1}, Without: hermes.SkillRun{Steps: 1}},
			why:   "neither",
		},
		"the service is down": {
			steps: down, want: hermes.SkillTrial{Verdict: hermes.SkillUndecided, With: hermes.SkillRun{Steps: 1}}, why: "the model call failed",
		},
		"a cap is reached": {
			steps: join(plays("built", direct...), yes, capped),
			want:  hermes.SkillTrial{Verdict: hermes.SkillUndecided, With: hermes.SkillRun{Reached: true, Steps: 3}, Without: hermes.SkillRun{Steps: 1}},
			why:   "cap of the day",
		},
		"the judge does not say": {
			steps: join(plays("built", direct...), []hermestest.Step{hermestest.Say("perhaps")}),
			want:  hermes.SkillTrial{Verdict: hermes.SkillUndecided, With: hermes.SkillRun{Steps: 3}}, why: "neither yes nor no",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := hermestest.NewScript(c.steps...)
			got, err := try(t.Context(), m, record(t, hard...), 0)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(hermes.SkillTrial{}, "Name", "Why", "At", "Tokens", "Session", "Turn"), cmpopts.IgnoreFields(hermes.SkillRun{}, "Tokens")); diff != "" {
				t.Errorf("%s (%s)", diff, got.Why)
			}
			if !strings.Contains(got.Why, c.why) || got.Harmful() != c.harm || m.Left() != 0 {
				t.Errorf("%q, harmful %v, %d steps left", got.Why, got.Harmful(), m.Left())
			}
		})
	}
}

func try(ctx context.Context, m hermes.Model, r replay.Recording, tokens int64) (hermes.SkillTrial, error) {
	return replay.Try(ctx, replay.Config{Model: func(string) hermes.Model { return m }, Tokens: tokens}, r,
		replay.Draft{Name: "build", Text: "Write config.mk, then make build."})
}

func TestWithoutTokensTheVerdictIsUndecided(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.CallTool("terminal", `{"command":"make"}`)).Forever()
	got, err := try(t.Context(), m, record(t, hard...), 50)
	if err != nil || got.Verdict != hermes.SkillUndecided || !strings.Contains(got.Why, "tokens") {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(m.Requests()); n > 3 {
		t.Errorf("asked %d times", n)
	}
}

func TestARunThatNeverEndsIsBounded(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(hermestest.CallTool("terminal", `{"command":"make"}`)).Forever()
	got, err := try(t.Context(), m, record(t, hard...), 1<<40)
	if err != nil || got.With.Reached || len(m.Requests()) > 30 {
		t.Errorf("%+v, %v, %d requests", got, err, len(m.Requests()))
	}
}

func TestAnInterruptIsNoVerdict(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := hermestest.NewScript(hermestest.Step{Check: func(*hermes.Request) error { cancel(); return ctx.Err() }})
	got, err := try(ctx, m, record(t, hard...), 0)
	if !errors.Is(err, context.Canceled) || got.Verdict != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestCallsAreAnsweredForTheCurrentState(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls []hermes.ToolCall
		want  []string
	}{
		"as it was":                           {calls(1, 2, 3, 4), []string{"TAGS is not set", "TAGS ?= ", "written", "ok"}},
		"asking again changes nothing":        {calls(1, 1, 1), []string{"TAGS is not set", "TAGS is not set", "TAGS is not set"}},
		"after the fix the first try works":   {calls(3, 1, 1), []string{"written", "ok", "ok"}},
		"what was read before is still known": {calls(4, 3, 2), []string{"TAGS is not set", "written", "TAGS ?= "}},
		"arguments are compared by what they mean": {
			[]hermes.ToolCall{{Name: "write_file", Arguments: `{ "content": "TAGS=x\n", "path":"config.mk", "append": false }`}}, []string{"written"}},
		"nothing else is known": {
			[]hermes.ToolCall{{Name: "terminal", Arguments: `{"command":"rm -rf /"}`}, {Name: "nothing", Arguments: `{}`}}, []string{"not recorded", "not recorded"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var steps []hermestest.Step
			for _, call := range c.calls {
				steps = append(steps, hermestest.CallTool(call.Name, call.Arguments))
			}
			m := hermestest.NewScript(append(steps, hermestest.Say("done"))...)
			_, _ = try(t.Context(), m, record(t, hard...), 0) // the script ends before a verdict
			var got []string
			for _, r := range m.Requests() {
				if last := r.Messages[len(r.Messages)-1]; last.Role == hermes.RoleTool && len(got) < len(c.want) {
					got = append(got, last.Text())
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("results %q", got)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("result %d is %q, want %q", i, got[i], want)
				}
			}
		})
	}
}

// TestAForwardedCallIsTheOtherCall: what was recorded through tool_call is known by both ways, and the
// other way round; what only reads changes no state.
func TestAForwardedCallIsTheOtherCall(t *testing.T) {
	t.Parallel()
	r := record(t,
		step{"tool_call", `{"name":"mcp__b__build","arguments":{"x":"1"}}`, "built 1", false},
		step{"mcp__b__build", `{"x":"2"}`, "built 2", false},
		step{"tool_call", `{"name":"memory","arguments":{"x":"2"}}`, "kept", false},
	)
	m := hermestest.NewScript(
		hermestest.CallTool("mcp__b__build", `{"x":"1"}`),
		hermestest.CallTool("tool_call", `{"arguments":{"x":"2"},"name":"mcp__b__build"}`),
		hermestest.CallTool("tool_call", `{"name":"memory","arguments":{"x":"2"}}`),
		hermestest.Say("done"))
	_, _ = try(t.Context(), m, r, 0) // the script ends before a verdict
	for i, want := range []string{"built 1", "built 2", "not recorded"} {
		list := m.Requests()[i+1].Messages
		if got := list[len(list)-1].Text(); !strings.Contains(got, want) {
			t.Errorf("result %d is %q, want %q", i, got, want)
		}
	}
}

func calls(places ...int) (out []hermes.ToolCall) {
	for _, n := range places {
		out = append(out, hermes.ToolCall{Name: hard[n].tool, Arguments: hard[n].arguments})
	}
	return out
}

func TestWhatTheModelReads(t *testing.T) {
	t.Parallel()
	m := hermestest.NewScript(plays("built", direct...)...)
	_, _ = try(t.Context(), m, record(t, hard...), 0) // only the first request matters
	first := m.Requests()[0]
	text := first.Messages[0].Text()
	if !strings.Contains(text, "Write config.mk, then make build.") || !strings.Contains(text, "make it build") || strings.Contains(text, "TAGS was missing") {
		t.Errorf("the prompt is %q", text)
	}
	var names []string
	for _, s := range first.Tools {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "read_file terminal write_file" || first.Session != "s" {
		t.Errorf("tools %q, session %q", got, first.Session)
	}
}

func TestTheTaskIsFound(t *testing.T) {
	t.Parallel()
	small := hard[:2]
	open := transcript(4, hard...)
	open = open[:len(open)-1] // without an end
	own := transcript(6, step{"memory", `{"n":1}`, "x", false}, step{"memory", `{"n":2}`, "x", false}, hard[0])
	for name, c := range map[string]struct {
		list []hermes.Message
		turn int64
		want int64
	}{
		"the turn that is meant":           {append(transcript(1, hard...), transcript(2, small...)...), 2, 2},
		"else the hardest":                 {append(transcript(1, hard...), transcript(2, small...)...), 3, 1},
		"of two the later":                 {append(transcript(1, small...), transcript(2, small...)...), 0, 2},
		"no calls, no task":                {transcript(1), 1, 0},
		"one call is no task":              {transcript(1, hard[0]), 1, 0},
		"a turn without an end is no task": {open, 4, 0},
		"the keeping itself is no task":    {own, 6, 0},
		"nothing":                          {nil, 0, 0},
	} {
		r, ok := replay.Record(replay.Source{Session: "s", Transcript: c.list, Turn: c.turn, Omit: []string{"memory"}})
		if r.Turn != c.want || ok != (c.want > 0) {
			t.Errorf("%s: turn %d, %v, want %d", name, r.Turn, ok, c.want)
		}
	}
}
