package upstream_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/plugin/upstream"
)

// converted is one of the examples, or a plugin whose __init__.py has a text, after Convert.
func converted(t *testing.T, from string, g upstream.Grants) (dir string, lacks []string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "My_Plugin.v2")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", from))); err != nil {
		if err := os.WriteFile(filepath.Join(dir, "__init__.py"), []byte(from), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !upstream.Is(dir) {
		t.Fatal("it is not seen as a plugin of the Python Hermes")
	}
	lacks, err := upstream.Convert(dir, filepath.Base(dir), g)
	if err != nil {
		t.Fatal(err)
	}
	if upstream.Is(dir) {
		t.Error("it is still seen as one")
	}
	return dir, lacks
}

func TestConvertGrantsWhatTheUserAllows(t *testing.T) {
	t.Parallel()
	dir, lacks := converted(t, "desk", upstream.Grants{})
	data, err := os.ReadFile(filepath.Join(dir, "plugin.yaml"))
	want := `# Made from a plugin of the Python Hermes; install it again to change what it may do.
name: my-plugin-v2
version: "0"
description: A plugin of the Python Hermes.
program: [python3, ./hermes_shim.py]
kinds: [tools, hooks, prompt, commands]
capabilities: {}
`
	if string(data) != want || err != nil {
		t.Errorf("%s\n%v", data, err)
	}
	if got := strings.Join(lacks, "\n"); !strings.Contains(got, "--tool") || !strings.Contains(got, "--complete") || strings.Contains(got, "--host") {
		t.Error(got)
	}
	dir, lacks = converted(t, "tides", upstream.Grants{
		Hosts: []string{"a.example.org"}, Read: []string{"/srv"}, Write: []string{"~/tides"}, Tools: []string{"read_file"}, Complete: true,
		Secrets: map[string][]string{"TIDES_KEY": {"b.example.org"}}, Variables: map[string]string{"TIDES_UNIT": "m"},
	})
	data, err = os.ReadFile(filepath.Join(dir, "plugin.yaml"))
	want = `capabilities:
    hosts: [a.example.org, b.example.org]
    read: [/srv]
    write: [~/tides]
    secrets:
        - name: TIDES_KEY
          hosts: [b.example.org]
    tools: [read_file]
    complete: {}
`
	if !strings.Contains(string(data), "name: tides\nversion: 1.2.0\n") || !strings.HasSuffix(string(data), want) || err != nil || len(lacks) > 0 {
		t.Errorf("%s\n%v %v", data, lacks, err)
	}
	for _, c := range []struct{ code, want string }{
		{"import requests\ndef register(ctx): pass", "--host"}, {"def register(ctx):\n  ctx.dispatch_tool('terminal', {})", "--tool terminal"},
	} {
		if _, lacks := converted(t, c.code, upstream.Grants{}); len(lacks) != 1 || !strings.Contains(lacks[0], c.want) {
			t.Errorf("%q: %v", c.code, lacks)
		}
	}
	if _, lacks := converted(t, "tides", upstream.Grants{}); len(lacks) != 1 || !strings.Contains(lacks[0], "--set TIDES_UNIT=VALUE") {
		t.Error(lacks)
	}
}

func TestOtherFoldersAreNoPluginsOfThePythonHermes(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]map[string]string{
		"one of ours":    {"__init__.py": "def register(ctx): pass", "plugin.yaml": "name: x\nprogram: [./x]\n"},
		"a package":      {"__init__.py": "x = 1"},
		"no package":     {"plugin.yaml": "name: x\n"},
		"a bad manifest": {"__init__.py": "def register(ctx): pass", "plugin.yaml": "name: [\n"},
	} {
		dir := t.TempDir()
		for file, text := range files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if upstream.Is(dir) {
			t.Error(name)
		}
	}
	for name, want := range map[string]string{"My_Plugin": "my-plugin", "9lives": "plugin-9lives", "": "plugin", "--": "plugin", strings.Repeat("x", 50): strings.Repeat("x", 40), "image_gen/openai": "image-gen-openai"} {
		if got := upstream.PlainName(name); got != want {
			t.Errorf("%q: %q", name, got)
		}
	}
}

// wire speaks with a plugin that runs.
type wire struct {
	t      *testing.T
	in     *json.Encoder
	out    *bufio.Scanner
	serial int
}

type message struct {
	ID     any             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// python is the program itself: what is in the PATH may be a slow script that looks for it.
var python = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

func started(t *testing.T, dir string) *wire {
	t.Helper()
	program, err := python()
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-B", filepath.Join(dir, "hermes_shim.py"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error("the program:", err)
		}
	})
	return w
}

// call sends a request. A request of the plugin meanwhile is answered with an error that names it.
func (w *wire) call(method string, params any) (result, fault string) {
	w.t.Helper()
	w.serial++
	if err := w.in.Encode(map[string]any{"jsonrpc": "2.0", "id": w.serial, "method": method, "params": params}); err != nil {
		w.t.Fatal(err)
	}
	for w.out.Scan() {
		var m message
		if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
			w.t.Fatalf("%s: %v", w.out.Bytes(), err)
		}
		if m.Method != "" {
			if err := w.in.Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32003, "message": "not now: " + m.Method + string(m.Params)}}); err != nil {
				w.t.Fatal(err)
			}
			continue
		}
		if m.Error != nil {
			return "", m.Error.Message
		}
		return string(m.Result), ""
	}
	w.t.Fatal("the program has ended", w.out.Err())
	return "", ""
}

// TestCommandsOfAPluginRun, also asynchronous ones, and ask a model by the protocol.
func TestCommandsOfAPluginRun(t *testing.T) {
	t.Parallel()
	dir, _ := converted(t, "desk", upstream.Grants{})
	w := started(t, dir)
	if got, fault := w.call("initialize", map[string]any{"protocol": 1}); got != `{"protocol": 1, "name": "my-plugin-v2", "version": ""}` {
		t.Fatal(got, fault)
	}
	if got, _ := w.call("commands/list", map[string]any{}); got != `{"commands": [{"name": "desk", "args": "[what]", "help": "Show the desk"}, {"name": "tldr", "args": "", "help": "Sum up a text"}]}` {
		t.Error(got)
	}
	if got, _ := w.call("commands/run", map[string]any{"call": "1", "name": "desk", "args": " letters"}); got != `{"text": "The desk is tidy: letters."}` {
		t.Error(got)
	}
	if _, fault := w.call("commands/run", map[string]any{"call": "2", "name": "tldr", "args": "long"}); fault != `not now: host/complete{"call": "2", "system": "Be short.", "prompt": "long", "max_tokens": 64}` {
		t.Error(fault)
	}
	if _, fault := w.call("commands/run", map[string]any{"call": "3", "name": "none"}); !strings.Contains(fault, "no command") {
		t.Error(fault)
	}
	if _, fault := w.call("memory/recall", map[string]any{"call": "4"}); !strings.Contains(fault, "memory/recall") {
		t.Error(fault)
	}
	if got, _ := w.call("shutdown", map[string]any{}); got != "{}" {
		t.Error(got)
	}
}

// TestProgramsOfAPluginShareNoStreams with the protocol: what one reads and prints is not a message.
func TestProgramsOfAPluginShareNoStreams(t *testing.T) {
	t.Parallel()
	dir, _ := converted(t, `import subprocess, sys
def programs(args, **kwargs):
    print("printed")
    return " ".join(str(subprocess.run(c).returncode) for c in (["cat"], ["printf", "abc"])) + repr(sys.stdin.read())
def register(ctx):
    ctx.register_tool("programs", schema={}, handler=programs)
`, upstream.Grants{})
	w := started(t, dir)
	if _, fault := w.call("initialize", map[string]any{"protocol": 1}); fault != "" {
		t.Fatal(fault)
	}
	for range 2 {
		if got, fault := w.call("tools/call", map[string]any{"call": "1", "name": "programs", "arguments": map[string]any{}}); got != `{"text": "0 0''", "failed": false}` {
			t.Fatal(got, fault)
		}
	}
}

// TestABlockNeedsNoMessage: a hook that gives no reason refuses as well.
func TestABlockNeedsNoMessage(t *testing.T) {
	t.Parallel()
	dir, _ := converted(t, "def register(ctx):\n    ctx.register_hook('pre_tool_call', lambda tool_name, **kw: {'action': 'block'})\n", upstream.Grants{})
	w := started(t, dir)
	if _, fault := w.call("initialize", map[string]any{"protocol": 1}); fault != "" {
		t.Fatal(fault)
	}
	if got, fault := w.call("hooks/call", map[string]any{"call": "1", "event": "pre_tool_call", "tool": map[string]any{"name": "terminal"}}); got != `{"action": "block", "message": "the plugin gives no reason"}` {
		t.Error(got, fault)
	}
}

// TestWhatIsNotSupportedIsNamed when the plugin is enabled, whatever it is.
func TestWhatIsNotSupportedIsNamed(t *testing.T) {
	t.Parallel()
	body := func(line string) string { return "def register(ctx):\n    " + line + "\n" }
	for _, c := range []struct{ code, want string }{
		{body("ctx.register_platform('x')"), "ctx.register_platform is not supported"},
		{body("ctx.register_hook('pre_verify', print)"), "the hook pre_verify is not supported"},
		{body("ctx.register_tool('x', schema={}, handler=print, override=True)"), "the argument override of register_tool"},
		{body("ctx.llm.complete_structured(input=[])"), "ctx.llm.complete_structured is not supported"},
		{body("ctx.llm.complete([], model='other')"), "the argument model of ctx.llm.complete"},
		{body("ctx.llm.complete([])"), "works only while"},
		{body("ctx.dispatch_tool('x', {})"), "works only while"},
		{body("ctx.inject_message('x', session_key='k')"), "session_key"},
		{body("ctx.register_skill('x', 'nowhere.md')"), "nowhere.md"},
		{body("ctx.register_tool('x', schema={})"), "has no handler"},
		{"import yaml_that_is_missing\n" + body("pass"), "imports yaml_that_is_missing, which"},
		{"from hermes_cli.plugins import PluginContext\n" + body("pass"), "imports hermes_cli, a part of the Python Hermes"},
		{"from hermes_constants import get_hermes_home\n" + body("pass"), "imports hermes_constants, a part of the Python Hermes"},
		{"from . import missing\n" + body("pass"), "missing"},
		{"register = 1\n", "no function register"},
		{"import sys\nsys.exit(3)\n" + body("pass"), "wants to exit"},
		{"1/0\n" + body("pass"), "ZeroDivisionError"},
		{"def register(ctx: \n", "SyntaxError"},
	} {
		dir, _ := converted(t, c.code, upstream.Grants{})
		if got, fault := started(t, dir).call("initialize", map[string]any{"protocol": 1}); !strings.Contains(fault, c.want) {
			t.Errorf("%q: %s%s", c.code, got, fault)
		}
	}
	dir, _ := converted(t, "tides", upstream.Grants{})
	if _, fault := started(t, dir).call("initialize", map[string]any{"protocol": 1}); !strings.Contains(fault, "needs TIDES_UNIT") {
		t.Error(fault)
	}
	// What only looks whether something is there goes on.
	dir, _ = converted(t, body("assert not hasattr(ctx, 'register_platform') and getattr(ctx, 'register_cli_command', None) is None and hasattr(ctx, 'register_tool')"), upstream.Grants{})
	if _, fault := started(t, dir).call("initialize", map[string]any{"protocol": 1}); fault != "" {
		t.Error(fault)
	}
}
