package codeexecution_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/tool/codeexecution"
)

// host is the host of one call. Its tools answer with tool.
type host struct {
	hermes.Host
	env   hermes.Environment
	id    string // of the session; "" is s1
	mode  hermes.RightsMode
	specs []hermes.Spec
	tool  func(ctx context.Context, name string, args map[string]any) (hermes.Result, error)

	mu       sync.Mutex
	progress []string
}

func (h *host) Session() hermes.SessionRef {
	return hermes.SessionRef{ID: cmp.Or(h.id, "s1"), Mode: h.mode}
}
func (h *host) Environment() hermes.Environment { return h.env }
func (h *host) Tools() []hermes.Spec            { return h.specs }
func (h *host) Progress(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.progress = append(h.progress, text)
}

func (h *host) Invoke(ctx context.Context, name string, args json.RawMessage) (hermes.Result, error) {
	var given map[string]any
	if err := json.Unmarshal(args, &given); err != nil {
		return hermes.Result{}, err
	}
	return h.tool(ctx, name, given)
}

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
}

type commandArgs struct {
	Command    string `json:"command"`
	Timeout    int    `json:"timeout,omitempty"`
	Background bool   `json:"background,omitempty"`
}

// specs are tools as a session has them.
func specs() []hermes.Spec {
	return []hermes.Spec{
		{Name: "execute_code"},
		{Name: "memory", Schema: hermes.SchemaOf[struct{}]()},
		{Name: "read_file", Description: "Read a \"file\".", Schema: hermes.SchemaOf[readArgs]()},
		{Name: "terminal", Schema: hermes.SchemaOf[commandArgs]()},
	}
}

// echo answers with the arguments.
func echo(_ context.Context, name string, args map[string]any) (hermes.Result, error) {
	return hermes.JSONResult(map[string]any{"tool": name, "args": args})
}

type answer struct {
	Status string  `json:"status"`
	Output string  `json:"output"`
	Error  string  `json:"error"`
	Calls  int     `json:"tool_calls_made"`
	Took   float64 `json:"duration_seconds"`
	Saved  string  `json:"full_output"`
	Note   string  `json:"note"`
}

// scene runs scripts in a local environment.
type scene struct {
	*testing.T
	set  *codeexecution.Toolset
	tool hermes.Tool
	host *host
}

func newScene(t *testing.T, c codeexecution.Config) *scene {
	t.Helper()
	env, err := environment.NewLocal(environment.LocalConfig{Dir: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	c.Judge = func(*hermes.Call, string) []hermes.Risk { return nil }
	s := &scene{T: t, set: codeexecution.New(c), host: &host{env: env, specs: specs(), tool: echo}}
	t.Cleanup(func() { s.set.Close(); env.Close() })
	tools, err := s.set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.tool = tools[0]
	return s
}

func (s *scene) call(ctx context.Context, args map[string]any) (answer, error) {
	s.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		s.Fatal(err)
	}
	r, err := s.tool.Run(ctx, &hermes.Call{ID: "c1", Name: "execute_code", Arguments: b, Host: s.host})
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal([]byte(r.Text), &a); err != nil {
		s.Fatalf("%s: %v", r.Text, err)
	}
	if r.Failed != (a.Status != "success") || !r.RefundStep {
		s.Errorf("failed %v, refund %v, status %s", r.Failed, r.RefundStep, a.Status)
	}
	return a, nil
}

// run runs a Python script.
func (s *scene) run(code string) answer {
	s.Helper()
	a, err := s.call(s.Context(), map[string]any{"code": code})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func TestScriptsCallTools(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	a := s.run(`
from hermes_tools import read_file, terminal
import hermes_tools, sys
r = read_file("a b.txt", offset=3)
print(r["tool"], r["args"], read_file.__doc__)
print(terminal("ls -l", timeout=5)["args"])
sys.stderr.write("not shown\n")
`)
	want := "read_file {'offset': 3, 'path': 'a b.txt'} Read a \"file\".\n{'command': 'ls -l', 'timeout': 5}\n"
	if a.Status != "success" || a.Output != want || a.Calls != 2 {
		t.Errorf("got %+v, want output %q", a, want)
	}
}

func TestAllCallsOfThreadsAreAnswered(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	var mu sync.Mutex
	var in, most int
	all := make(chan struct{})
	s.host.tool = func(ctx context.Context, name string, args map[string]any) (hermes.Result, error) {
		mu.Lock()
		in++
		if most = max(most, in); most == 50 && in == 50 {
			close(all)
		}
		mu.Unlock()
		<-all
		return echo(ctx, name, args)
	}
	a := s.run(`
from concurrent.futures import ThreadPoolExecutor
from hermes_tools import read_file
with ThreadPoolExecutor(50) as pool:
    got = list(pool.map(lambda i: read_file(str(i))["args"]["path"], range(50)))
print(got == [str(i) for i in range(50)])
print(read_file("one more"))
`)
	if a.Status != "success" || !strings.HasPrefix(a.Output, "True\n") || !strings.Contains(a.Output, "limit of 50 tool calls") || a.Calls != 50 {
		t.Errorf("got %+v", a)
	}
}

func jsonOf(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}
