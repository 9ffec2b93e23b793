package toolbox_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/hook"
	"hermes/internal/toolbox"
	"hermes/internal/toolset"
)

// group is a toolset of given tools.
type group struct {
	name  string
	tools []hermes.Tool
	why   string
	asked int
	err   error
	check func() string
}

func (g *group) Name() string { return g.name }
func (g *group) Tools(context.Context) ([]hermes.Tool, error) {
	return g.tools, g.err
}

func (g *group) Available(context.Context) string {
	g.asked++
	if g.check != nil {
		return g.check()
	}
	return g.why
}

// tool is a Tool of plain functions.
type tool struct {
	spec hermes.Spec
	run  func(context.Context, *hermes.Call) (hermes.Result, error)
}

func (t tool) Spec() hermes.Spec { return t.spec }
func (t tool) Run(ctx context.Context, c *hermes.Call) (hermes.Result, error) {
	if t.run == nil {
		return hermes.Result{Text: `{"ok":true}`}, nil
	}
	return t.run(ctx, c)
}

// risky is a tool whose calls are assessed.
type risky struct {
	tool
	assess func(*hermes.Call) []hermes.Risk
}

func (r risky) AssessRisk(_ context.Context, c *hermes.Call) []hermes.Risk { return r.assess(c) }

func named(names ...string) []hermes.Tool {
	var tools []hermes.Tool
	for _, n := range names {
		tools = append(tools, tool{spec: hermes.Spec{Name: n}})
	}
	return tools
}

// host answers approvals in turn; an empty list refuses.
type host struct {
	hermes.Host
	answers    []hermes.Decision
	asked      []hermes.ApprovalRequest
	scope      hermes.GrantScope
	reason     string // of a refusal
	fail       error
	files      *files
	provenance string
	platform   string
	dir        string // empty is /work
	said       string // by Progress
	alone      bool   // no user attends
	depth      int    // of child sessions
	mode       hermes.RightsMode
}

func (h *host) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: "s1", Dir: cmp.Or(h.dir, "/work"), Provenance: h.provenance, Platform: h.platform, Attended: !h.alone, Depth: h.depth, Mode: h.mode}
}
func (h *host) Environment() hermes.Environment {
	if h.files == nil {
		return nil
	}
	return fakeEnvironment{files: h.files}
}

func (h *host) Approve(_ context.Context, a hermes.ApprovalRequest) (hermes.ApprovalAnswer, error) {
	h.asked = append(h.asked, a)
	if h.fail != nil {
		return hermes.ApprovalAnswer{}, h.fail
	}
	if len(h.answers) == 0 {
		return hermes.ApprovalAnswer{Decision: hermes.Deny, Reason: h.reason}, nil
	}
	c := h.answers[0]
	h.answers = h.answers[1:]
	return hermes.ApprovalAnswer{Decision: c, Scope: h.scope}, nil
}

func (h *host) Progress(text string) { h.said += text }

type fakeEnvironment struct {
	hermes.Environment
	files *files
}

func (p fakeEnvironment) Files() hermes.Files { return p.files }

type files struct {
	hermes.Files
	mu      sync.Mutex
	written map[string]string
	onHost  bool
	fail    error
}

func (f *files) RealPath(_ context.Context, p string) (string, error) { return p, nil }
func (f *files) OnHost() bool                                         { return f.onHost }
func (f *files) Resolve(p string) (string, error)                     { return "/here/" + strings.TrimPrefix(p, "."), nil }
func (f *files) Write(_ context.Context, path string, data []byte, _ fs.FileMode) error {
	if f.fail != nil {
		return f.fail
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.written == nil {
		f.written = map[string]string{}
	}
	f.written[path] = string(data)
	return nil
}

// mustToolbox makes a toolbox of the given tools, in a toolset named "own".
func mustToolbox(t *testing.T, o toolbox.Options, tools ...hermes.Tool) *toolbox.Toolbox {
	t.Helper()
	set, err := toolset.NewCatalogue([]hermes.Toolset{&group{name: "own", tools: tools}}, nil, nil).Select(t.Context(), toolset.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	o.Set = set
	return toolbox.New(o)
}

func call(name, arguments string) *hermes.Call {
	return &hermes.Call{ID: "c1", Name: name, Arguments: json.RawMessage(arguments)}
}

func fields(t *testing.T, r hermes.Result) map[string]any {
	t.Helper()
	text, _, _ := strings.Cut(r.Text, "\n\n")
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("result is no JSON object: %q", r.Text)
	}
	return m
}

func TestWhateverGoesWrongIsAResult(t *testing.T) {
	t.Parallel()
	path := hermes.Spec{Name: "read_file", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`)}
	tools := mustToolbox(t, toolbox.Options{},
		tool{spec: path},
		tool{spec: hermes.Spec{Name: "search_files"}},
		tool{spec: hermes.Spec{Name: "boom"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) { panic("ouch") }},
		tool{spec: hermes.Spec{Name: "fails"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			return hermes.Result{}, errors.New("no such file; try search_files")
		}},
	)
	for _, tt := range []struct{ name, arguments, want string }{
		{"readfile", `{}`, `did you mean "read_file"?`},
		{"functions.search_files", `{}`, `did you mean "search_files"?`},
		{"launch_missiles", `{}`, "The tools are: boom, fails, read_file, search_files"},
		{"read_file", `{"path": `, "not valid JSON"},
		{"read_file", `[1]`, "must be one JSON object"},
		{"read_file", `{"file": "a"}`, `needs "path", which the call lacks (it has "file", which read_file does not accept)`},
		{"read_file", ``, `needs "path"`},
		{"boom", `{}`, "crashed on this call"},
		{"fails", `{}`, "no such file; try search_files"},
	} {
		r := tools.Run(t.Context(), call(tt.name, tt.arguments))
		if !r.Failed {
			t.Errorf("%s %s: not marked as failed", tt.name, tt.arguments)
		}
		if got, _ := fields(t, r)["error"].(string); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: got %q, want it to say %q", tt.name, tt.arguments, got, tt.want)
		}
	}
	if r := tools.Run(t.Context(), call("read_file", `"{\"path\":\"a\"}"`)); r.Failed {
		t.Errorf("an object in a string was refused: %s", r.Text)
	}
}

func TestArgumentsReachTheToolCoerced(t *testing.T) {
	t.Parallel()
	var got string
	tools := mustToolbox(t, toolbox.Options{}, tool{
		spec: hermes.Spec{Name: "todo", Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)},
		run: func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
			got = string(c.Arguments)
			return hermes.Result{}, nil
		},
	})
	tools.Run(t.Context(), call("todo_list", `{"n":"3"}`))
	if want := `{"n":3}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestInterruptionIsReported(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := mustToolbox(t, toolbox.Options{}, tool{spec: hermes.Spec{Name: "slow"}, run: func(ctx context.Context, _ *hermes.Call) (hermes.Result, error) {
		cancel(hermes.ErrInterrupted)
		<-ctx.Done()
		return hermes.Result{}, context.Cause(ctx)
	}})
	if r := tools.Run(ctx, call("slow", `{}`)); !r.Failed || !strings.Contains(r.Text, "interrupted") {
		t.Errorf("cut call: %+v", r)
	}
	if r := tools.Run(ctx, call("slow", `{}`)); !strings.HasPrefix(r.Text, "{") {
		t.Errorf("no JSON: %q", r.Text)
	}
	if r := tools.Run(ctx, call("slow", `{}`)); !r.Failed || !strings.Contains(r.Text, "before this call ran") {
		t.Errorf("call that never began: %+v", r)
	}
}

func TestWhatACutCallGaveIsKept(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	tools := mustToolbox(t, toolbox.Options{}, tool{spec: hermes.Spec{Name: "slow"}, run: func(ctx context.Context, _ *hermes.Call) (hermes.Result, error) {
		cancel(hermes.ErrInterrupted)
		return hermes.Result{Text: "half \xff"}, ctx.Err()
	}})
	if r := tools.Run(ctx, call("slow", `{}`)); !r.Failed || !strings.HasPrefix(r.Text, "half \ufffd\n") || !strings.Contains(r.Text, "interrupted") {
		t.Errorf("got %q", r.Text)
	}
}

func TestHooksChangeAnswerAndRefuse(t *testing.T) {
	t.Parallel()
	echo := tool{spec: hermes.Spec{Name: "echo"}, run: func(_ context.Context, c *hermes.Call) (hermes.Result, error) {
		return hermes.Result{Text: string(c.Arguments)}, nil
	}}
	before := func(f func(*hermes.Call) (*hermes.Result, error)) hermes.Hook {
		return hermes.Hook{Name: "h", BeforeTool: func(_ context.Context, c *hermes.Call) (*hermes.Result, error) { return f(c) }}
	}
	stuck := func(ctx context.Context, _ *hermes.Call) (*hermes.Result, error) { <-ctx.Done(); return nil, nil }
	for _, tt := range []struct {
		name  string
		hooks []hermes.Hook
		want  string
		fails bool
	}{
		{name: "none", want: `{"a":1}`},
		{name: "rewrites", hooks: []hermes.Hook{before(func(c *hermes.Call) (*hermes.Result, error) {
			c.Arguments = json.RawMessage(`{"a":2}`)
			return nil, nil
		})}, want: `{"a":2}`},
		{name: "makes nonsense", hooks: []hermes.Hook{before(func(c *hermes.Call) (*hermes.Result, error) {
			c.Arguments = json.RawMessage(`{`)
			return nil, nil
		})}, want: "made the call invalid", fails: true},
		{name: "answers", hooks: []hermes.Hook{before(func(*hermes.Call) (*hermes.Result, error) {
			return &hermes.Result{Text: "cached"}, nil
		})}, want: "cached"},
		{name: "refuses", hooks: []hermes.Hook{before(func(*hermes.Call) (*hermes.Result, error) {
			return nil, errors.New("not on a Friday")
		})}, want: "not on a Friday", fails: true},
		{name: "panics", hooks: []hermes.Hook{before(func(*hermes.Call) (*hermes.Result, error) { panic("x") })}, want: `{"a":1}`},
		{name: "guard panics", hooks: []hermes.Hook{{Name: "g", Guard: true, BeforeTool: func(context.Context, *hermes.Call) (*hermes.Result, error) {
			panic("x")
		}}}, want: "the guard g could not check", fails: true},
		{name: "stuck", hooks: []hermes.Hook{{Name: "s", Timeout: time.Millisecond, BeforeTool: stuck}}, want: `{"a":1}`},
		{name: "guard stuck", hooks: []hermes.Hook{{Name: "s", Guard: true, Timeout: time.Millisecond, BeforeTool: stuck}}, want: "took too long", fails: true},
		{name: "after", hooks: []hermes.Hook{{AfterTool: func(_ context.Context, _ *hermes.Call, r *hermes.Result) { r.Text += " seen" }}}, want: `{"a":1} seen`},
		{name: "after panics", hooks: []hermes.Hook{{AfterTool: func(_ context.Context, _ *hermes.Call, r *hermes.Result) {
			r.Text = "spoilt"
			panic("x")
		}}}, want: `{"a":1}`},
	} {
		r := mustToolbox(t, toolbox.Options{Hooks: hook.New(nil, tt.hooks...)}, echo).Run(t.Context(), call("echo", `{"a":1}`))
		if r.Failed != tt.fails || !strings.Contains(r.Text, tt.want) || strings.Contains(r.Text, "spoilt") {
			t.Errorf("%s: got %q (failed %v), want %q", tt.name, r.Text, r.Failed, tt.want)
		}
	}
}

func TestSecretsLeaveNeitherResultNorPreview(t *testing.T) {
	t.Parallel()
	clean := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	hooks := []hermes.Hook{{AfterTool: func(_ context.Context, _ *hermes.Call, r *hermes.Result) { r.Text += " hook says hunter2" }}}
	f := &files{onHost: true}
	tools := mustToolbox(t, toolbox.Options{Redact: clean, Hooks: hook.New(nil, hooks...), Limits: toolbox.Limits{Result: 50, Head: 10}, Spill: toolbox.Spillover{Dir: "/spill"}},
		tool{spec: hermes.Spec{Name: "leak"}, run: func(context.Context, *hermes.Call) (hermes.Result, error) {
			return hermes.Result{Text: strings.Repeat("password hunter2 ", 20), Shown: "hunter2"}, nil
		}})
	c := call("leak", `{"command":"login hunter2"}`)
	c.Host = &host{files: f}
	r := tools.Run(t.Context(), c)
	stored := ""
	for _, text := range f.written {
		stored += text
	}
	if all := r.Text + r.Shown + stored; strings.Contains(all, "hunter2") || stored == "" {
		t.Errorf("a secret left the toolbox: %q", all)
	}
	if got := tools.Preview(hermes.ToolCall{Name: "leak", Arguments: string(c.Arguments)}); got != "login ***" {
		t.Errorf("preview: got %q", got)
	}
}
