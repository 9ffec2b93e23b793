package toolbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/toolbox"
)

// journaling is a host with a journal. It notes in what order things happen.
type journaling struct {
	host
	seen []string
	fail error // of BeginCall
}

func (j *journaling) note(what string) { j.seen = append(j.seen, what) }

func (j *journaling) BeginCall(_ context.Context, c hermes.ToolCall) error {
	j.note("begin " + c.Name + " " + c.Arguments)
	return j.fail
}

func (j *journaling) EndCall(_ context.Context, c hermes.ToolCall, r hermes.Result) error {
	j.note("end " + r.Text)
	return nil
}

func (j *journaling) Approve(_ context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	j.note("approve " + a.Subject)
	return hermes.ApprovalAnswer{Decision: hermes.AllowOnce}, nil
}

// noting is a tool that notes what each layer gives it.
type noting struct {
	tool
	to *journaling
}

func (n noting) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk {
	n.to.note("assess " + string(c.Arguments))
	return []hermes.Risk{{Key: "k", Reason: "because"}}
}

func (n noting) Subject(_ context.Context, c *hermes.Call) hermes.Subject {
	return hermes.Subject{Text: string(c.Arguments)}
}

func (n noting) Run(_ context.Context, c *hermes.Call) (hermes.Result, error) {
	n.to.note("run " + string(c.Arguments))
	return hermes.Result{Text: "done"}, nil
}

// TestTheSameBytesAreJudgedShownJournaledAndRun has a hook that rewrites a call, in
// another form than the canonical one.
func TestTheSameBytesAreJudgedShownJournaledAndRun(t *testing.T) {
	t.Parallel()
	j := &journaling{}
	schema := json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"},"times":{"type":"integer"}},"required":["command"]}`)
	rewrites := hermes.Hook{Name: "h", BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
		c.Arguments = json.RawMessage(`{"command":"ls","times":"2","unknown":true}`)
		return nil, nil
	}}
	sees := hermes.Hook{
		Name: "later",
		BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			j.note("before " + string(c.Arguments))
			return nil, nil
		},
		BeforeRun: func(_ context.Context, c *hermes.Call) error { j.note("before run " + string(c.Arguments)); return nil },
		AfterTool: func(_ context.Context, c *hermes.Call, r *hermes.Result) {
			j.note("after " + string(c.Arguments))
			r.Text += ", seen"
		},
	}
	tools := mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, rewrites, sees)}, noting{tool{spec: hermes.Spec{Name: "do", Schema: schema}}, j})
	r := tools.Run(t.Context(), &hermes.Call{ID: "1", Name: "do", Arguments: json.RawMessage(`{"command":"rm"}`), Host: j})
	const same = `{"command":"ls","times":2}`
	want := []string{"before " + same, "begin do " + same, "assess " + same, "approve " + same, "before run " + same, "run " + same, "after " + same, "end done, seen"}
	if diff := cmp.Diff(want, j.seen); diff != "" || r.Text != "done, seen" {
		t.Errorf("%q %s", r.Text, diff)
	}
}

func TestHookMayNotMakeACallInvalid(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)
	for name, tt := range map[string]struct{ arguments, want string }{
		"no object":           {`[1]`, "one JSON object"},
		"a required one gone": {`{}`, `needs \"command\"`},
		"in two spellings":    {`{"command":"ls","COMMAND":"rm"}`, "made the call invalid"},
	} {
		j := &journaling{}
		h := hermes.Hook{Name: "h", BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			c.Arguments = json.RawMessage(tt.arguments)
			return nil, nil
		}}
		r := mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, h)}, noting{tool{spec: hermes.Spec{Name: "do", Schema: schema}}, j}).
			Run(t.Context(), &hermes.Call{ID: "1", Name: "do", Arguments: json.RawMessage(`{"command":"ls"}`), Host: j})
		if !r.Failed || !strings.Contains(r.Text, tt.want) || len(j.seen) > 0 {
			t.Errorf("%s: %q, %q", name, r.Text, j.seen)
		}
	}
}

func TestJournalHasCallsThatMayChangeSomething(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tool      string
		arguments string
		fail      error
		want      []string
	}{
		"it changes something":             {tool: "write", arguments: `{}`, want: []string{"begin write {}", "end wrote"}},
		"it only reads":                    {tool: "look", arguments: `{}`},
		"it cannot run":                    {tool: "write", arguments: `[]`},
		"the journal cannot be written to": {tool: "write", arguments: `{}`, fail: errors.New("disk full"), want: []string{"begin write {}"}},
	} {
		j := &journaling{fail: tt.fail}
		run := func(context.Context, *hermes.Call) (hermes.Result, error) {
			if tt.fail != nil {
				t.Errorf("%s: it ran", name)
			}
			return hermes.Result{Text: "wrote"}, nil
		}
		tools := mustToolbox(t, toolbox.Options{}, tool{spec: hermes.Spec{Name: "write", Effect: hermes.EffectIdempotent}, run: run},
			tool{spec: hermes.Spec{Name: "look", Effect: hermes.EffectNone}, run: run})
		r := tools.Run(t.Context(), &hermes.Call{ID: "1", Name: tt.tool, Arguments: json.RawMessage(tt.arguments), Host: j})
		if !slices.Equal(j.seen, tt.want) || tt.fail != nil && (!r.Failed || !strings.Contains(r.Text, "disk full")) {
			t.Errorf("%s: journal %q, result %q", name, j.seen, r.Text)
		}
	}
}

// TestHookCannotChangeACallThatIsRunning has a hook that keeps its call and writes to
// it while the tool runs.
func TestHookCannotChangeACallThatIsRunning(t *testing.T) {
	t.Parallel()
	var kept []*hermes.Call
	keeps := hermes.Hook{
		BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
			kept = append(kept, c)
			return nil, nil
		},
		BeforeRun: func(_ context.Context, c *hermes.Call) error { kept = append(kept, c); return nil },
	}
	ran := ""
	echo := tool{spec: hermes.Spec{Name: "echo"}, run: func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
		for _, k := range kept {
			copy(k.Arguments, `{"a":2}`)
		}
		ran = string(c.Arguments)
		return hermes.Result{}, nil
	}}
	mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, keeps)}, echo).Run(t.Context(), call("echo", `{"a":1}`))
	if ran != `{"a":1}` || len(kept) != 2 {
		t.Errorf("ran %s, %d hooks", ran, len(kept))
	}
}

// TestLayersBeforeTheJournal has calls that end before they count as begun.
func TestLayersBeforeTheJournal(t *testing.T) {
	t.Parallel()
	j := &journaling{}
	fails := tool{spec: hermes.Spec{Name: "fails"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
		return hermes.Result{}, errors.New("no")
	}}
	no := hermes.Hook{BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) {
		if c.Name == "refused" {
			return nil, errors.New("not today")
		}
		return nil, nil
	}}
	tools := mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, no), Guardrail: toolbox.Guardrail{HardStop: true, BlockExact: 1}}, append(named("refused"), fails)...)
	run := func(name string) string {
		c := call(name, `{}`)
		c.Host = j
		return tools.Run(t.Context(), c).Text
	}
	run("fails")
	if text := run("fails"); !strings.Contains(text, exactBlock) || len(j.seen) != 2 {
		t.Errorf("a blocked call: %q, journal %q", text, j.seen)
	}
	run("refused")
	if text := run("refused"); !strings.Contains(text, exactBlock) || len(j.seen) != 2 {
		t.Errorf("a refused call that is repeated: %q, journal %q", text, j.seen)
	}
}

func TestPanicOfAnAssessmentIsAResult(t *testing.T) {
	t.Parallel()
	j := &journaling{}
	panics := risky{tool{spec: hermes.Spec{Name: "odd"}}, func(*hermes.Call) []hermes.Risk { panic("odd") }}
	r := mustToolbox(t, toolbox.Options{}, panics).Run(t.Context(), &hermes.Call{ID: "1", Name: "odd", Arguments: json.RawMessage(`{}`), Host: j})
	if !r.Failed || !strings.Contains(r.Text, "crashed") || len(j.seen) != 2 {
		t.Errorf("result %q, journal %q", r.Text, j.seen)
	}
}
