package codeexecution_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/tool/codeexecution"
)

// plain is an environment that hands no open files to commands, as those elsewhere are.
type plain struct{ hermes.Environment }

// everywhere runs a test in this machine's environment and in one with streams only.
func everywhere(t *testing.T, c codeexecution.Config, test func(t *testing.T, s *scene)) {
	t.Helper()
	for _, name := range []string{"channel", "streams"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, c)
			if name == "streams" {
				s.host.env = plain{s.host.env}
			}
			test(t, s)
		})
	}
}

func TestCallsWorkEverywhere(t *testing.T) {
	t.Parallel()
	everywhere(t, codeexecution.Config{}, func(t *testing.T, s *scene) {
		if _, err := s.host.env.Exec(t.Context(), hermes.Command{Line: "export HERMES_CHANNEL=9", Keep: true}); err != nil {
			t.Fatal(err)
		}
		a := s.run(`
import sys, subprocess, threading
from hermes_tools import read_file
big = "é" * 300000
def work(i):
    assert read_file(big, offset=i)["args"] == {"path": big, "offset": i}, i
threads = [threading.Thread(target=work, args=(i,)) for i in range(1, 9)]
[t.start() for t in threads]
subprocess.run("for i in $(seq 2000); do echo noise $i >&2; done; echo said", shell=True)
[t.join() for t in threads]
print(sys.stdin.read() == "", end="")
sys.exit(3)
`)
		if a.Status != "error" || a.Calls != 8 || a.Error != "the script ended with exit status 3" ||
			!strings.HasPrefix(a.Output, "said\nTrue\n[stderr]\n") || !strings.Contains(a.Output, "noise 2000\n") || strings.Contains(a.Output, "\x1e") {
			t.Errorf("got %.3000q", fmt.Sprintf("%+v", a))
		}
	})
}

func TestErrorsAreShownWithTheirLine(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	a := s.run("def f():\n    raise ValueError('no such thing')\n\nf()\n")
	for _, want := range []string{"[stderr]\nTraceback", `File "script.py", line 4, in <module>`, "    f()\n", "ValueError: no such thing"} {
		if !strings.Contains(a.Output, want) {
			t.Errorf("missing %q in %s", want, a.Output)
		}
	}
	if a := s.run("print("); a.Status != "error" || !strings.Contains(a.Output, "SyntaxError") {
		t.Errorf("got %+v", a)
	}
}

func TestOtherToolsAreRefused(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	for code, want := range map[string]string{
		"from hermes_tools import memory":                                                        "ImportError: memory cannot be called from a script: use it as a normal tool call instead",
		"from hermes_tools import fly":                                                           `unknown tool 'fly': scripts can call read_file, terminal`,
		"from hermes_tools import write_file":                                                    `scripts can call read_file, terminal`,
		"import hermes_tools as h; print(h._call('memory',{}))":                                  "memory cannot be called from a script: use it as a normal tool call instead",
		"import hermes_tools as h; print(h._call('terminal',{'command':'x','background':True}))": "scripts run commands in the foreground only",
		"import hermes_tools as h; print(h._call('nothing',{}))":                                 `unknown tool "nothing": scripts can call read_file, terminal`,
	} {
		if a := s.run(code); !strings.Contains(strings.ReplaceAll(a.Output, `\"`, `"`), want) || a.Calls != 0 {
			t.Errorf("%s: got %+v, want %s", code, a, want)
		}
	}
}

// TestTextsOfResultsAreUsable: what is no JSON is an object, too, and what follows it is left out.
func TestTextsOfResultsAreUsable(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	answers := []hermes.Result{{Text: "plain words"}, {Text: "it broke", Failed: true}, {Text: "{\"a\": 1}\n\n[a warning for the model]"}}
	s.host.tool = func(context.Context, string, map[string]any) (hermes.Result, error) {
		if len(answers) == 0 {
			return hermes.Result{}, errors.New("it cannot be called")
		}
		r := answers[0]
		answers = answers[1:]
		return r, nil
	}
	a := s.run("from hermes_tools import read_file\nfor i in range(4): print(read_file('x'))")
	want := "{'output': 'plain words'}\n{'error': 'it broke'}\n{'a': 1}\n{'error': 'it cannot be called'}\n"
	if a.Output != want {
		t.Errorf("got %q, want %q", a.Output, want)
	}
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	var saved string
	s := newScene(t, codeexecution.Config{
		Save: func(_ context.Context, _ *hermes.Call, text string) (string, error) {
			saved = text
			return "/saved", nil
		},
		Mask: func(text string) string { return strings.ReplaceAll(text, "secret", "***") },
	})
	a := s.run("print('begin'); print('x' * 200000); print('secret end')")
	if len(a.Output) > 50_100 || !strings.HasPrefix(a.Output, "begin\nxxx") || !strings.HasSuffix(a.Output, "secret end\n") ||
		!strings.Contains(a.Output, "x\n\n[output truncated at 50KB]\n\nx") || a.Saved != "/saved" {
		t.Errorf("%d bytes: %.100s", len(a.Output), a.Output)
	}
	if len(saved) != 200_000+len("begin\n\n*** end\n") || !strings.HasSuffix(saved, "*** end\n") {
		t.Errorf("saved %d bytes", len(saved))
	}
	a = s.run("import sys; sys.stderr.write('y' * 100000); sys.exit(1)")
	if len(a.Output) > 10_200 {
		t.Errorf("%d bytes of errors", len(a.Output))
	}
}

// TestAScriptIsEndedWithAllItStarted by time and by a stop.
func TestAScriptIsEndedWithAllItStarted(t *testing.T) {
	t.Parallel()
	everywhere(t, codeexecution.Config{Timeout: 5 * time.Second}, func(t *testing.T, s *scene) {
		dir := t.TempDir()
		code := `
import os, subprocess, signal
subprocess.Popen(["sleep", "300"])
child = subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])
open(r"` + dir + `/pid", "w").write(str(child.pid))
print("before")
child.wait()
`
		a := s.run(code)
		if a.Status != "timeout" || a.Error != "Script timed out after 5s and was killed." || !strings.HasPrefix(a.Output, "before\n") {
			t.Errorf("got %+v", a)
		}
		gone(t, filepath.Join(dir, "pid"))

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s.host.tool = func(ctx context.Context, _ string, _ map[string]any) (hermes.Result, error) {
			cancel()
			<-ctx.Done()
			return hermes.Result{}, context.Cause(ctx)
		}
		a, err := s.call(ctx, map[string]any{"code": "from hermes_tools import read_file\nprint('1')\nread_file('x')\nprint('2')"})
		if err != nil || a.Status != "interrupted" || a.Output != "1\n[execution interrupted — user sent a new message]" {
			t.Errorf("got %+v, error %v", a, err)
		}
	})
}

// gone fails unless the process whose id a file holds has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strings.TrimSpace(string(b))).Output()
	if err == nil && !strings.HasPrefix(string(out), "Z") {
		t.Errorf("process %s still runs: %s", b, out)
	}
}

// TestWaitingForTheUserTakesNoTime: a script whose call is asked about is not ended.
func TestWaitingForTheUserTakesNoTime(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 5 * time.Second})
	asking := &askingHost{host: s.host}
	s.host.tool = func(ctx context.Context, _ string, _ map[string]any) (hermes.Result, error) {
		asking.waits.Store(true)
		defer asking.waits.Store(false)
		select {
		case <-time.After(7 * time.Second):
		case <-ctx.Done():
		}
		return hermes.Result{Text: "{}"}, ctx.Err()
	}
	r, err := s.tool.Run(t.Context(), &hermes.Call{ID: "c", Name: "execute_code", Host: asking, Arguments: []byte(`{"code":"from hermes_tools import read_file\nprint(read_file('x'))"}`)})
	if err != nil || !strings.Contains(r.Text, `"status":"success"`) {
		t.Errorf("%s, error %v", r.Text, err)
	}
}

type askingHost struct {
	*host
	waits atomic.Bool
}

func (h *askingHost) Waiting() bool { return h.waits.Load() }

func TestTheUserSeesHowFarAScriptIs(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	var calls int
	s.host.tool = func(context.Context, string, map[string]any) (hermes.Result, error) {
		if calls++; calls == 2 {
			time.Sleep(1600 * time.Millisecond)
		}
		return hermes.Result{Text: "{}"}, nil
	}
	s.run("from hermes_tools import read_file\nread_file('1')\nread_file('2')")
	if got := strings.Join(s.host.progress, ";"); !regexp.MustCompile(`execute_code: 1 of 2 calls, [0-9]+ s`).MatchString(got) {
		t.Errorf("shown: %q", got)
	}
}

func TestVariablesAreKeptOnRequest(t *testing.T) {
	t.Parallel()
	everywhere(t, codeexecution.Config{Kernels: 2}, func(t *testing.T, s *scene) {
		keep := func(code string, more map[string]any) answer {
			t.Helper()
			args := map[string]any{"code": code, "keep": true}
			for k, v := range more {
				args[k] = v
			}
			a, err := s.call(t.Context(), args)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		if a := keep("n = 1\nimport os\nprint('first')\nos.write(2, b'x')", nil); a.Status != "success" || a.Output != "first\n" {
			t.Errorf("got %+v", a)
		}
		if a := keep("n += 1\nprint(n, os.getpid() > 1)\nfrom hermes_tools import read_file\nprint(read_file('a')['tool'])", nil); a.Output != "2 True\nread_file\n" || a.Calls != 1 {
			t.Errorf("got %+v", a)
		}
		if a := keep("import sys\nprint(1)\nn += 1\nsys.exit('enough')", nil); a.Status != "error" || !strings.Contains(a.Output, "enough") {
			t.Errorf("got %+v", a)
		}
		if a := keep("print(n)\n1/0", nil); a.Status != "error" || !strings.HasPrefix(a.Output, "3\n[stderr]\n") || !strings.Contains(a.Output, `File "script-4.py", line 2`) {
			t.Errorf("got %+v", a)
		}
		if a := s.run("print('n' in globals())"); a.Output != "False\n" {
			t.Errorf("without keep: %+v", a)
		}
		if a := keep("print('n' in globals())", map[string]any{"reset": true}); a.Output != "False\n" {
			t.Errorf("after reset: %+v", a)
		}
		keep("n = 7", nil)
		if a := keep("import os; os._exit(9)", nil); a.Status != "error" || a.Error != "the script ended with exit status 9. The kept variables are lost." {
			t.Errorf("a kernel that ends: %+v", a)
		}
		if a := keep("print('n' in globals())", nil); a.Output != "False\n" {
			t.Errorf("after its end: %+v", a)
		}
	})
}

func TestStrictScriptsHaveAFolderOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Strict: true})
	a := s.run("import os; print(os.getcwd(), os.listdir('.'))")
	dir, rest, _ := strings.Cut(a.Output, " ")
	if rest != "[]\n" {
		t.Errorf("got %+v", a)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder %s is still there: %v", dir, err)
	}
}

func TestWithoutPythonTheModelReadsWhatElseItCanDo(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	env, err := environment.NewLocal(environment.LocalConfig{Dir: t.TempDir(), Env: []string{"PATH=/nowhere"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	s.host.env = env
	a := s.run("from hermes_tools import read_file\nr = read_file('é' * 9, offset=2)\nprint(len(r['args']['path']), r['args']['offset'], f'{1}', read_file('x' * 60000))")
	if a.Status != "success" || !strings.HasPrefix(a.Output, "9 2 1 {'error': 'the result has 60") || a.Calls != 2 || !strings.Contains(a.Note, "MicroPython") {
		t.Errorf("got %+v", a)
	}
	for code, want := range map[string]string{
		"def f():\n    return 1/0\nf()":             "ZeroDivisionError",
		"from hermes_tools import memory":           "ImportError: memory cannot be called from a script: use it as a normal tool call instead",
		"import sys; sys.exit(4)":                   "",
		"open('/etc/passwd')":                       "Error",
		"x = []\nwhile True: x.append('y' * 10000)": "MemoryError",
	} {
		if a := s.run(code); a.Status != "error" || !strings.Contains(a.Output, want) {
			t.Errorf("%s: got %+v", code, a)
		}
	}
	if _, err := s.call(t.Context(), map[string]any{"code": "print(1)", "keep": true}); err == nil || !strings.Contains(err.Error(), "language javascript") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if a, err := s.call(ctx, map[string]any{"code": "while True: pass"}); err != nil || a.Status != "interrupted" {
		t.Errorf("got %+v, error %v", a, err)
	}
	if a := s.js("print(1)"); a.Output != "1\n" {
		t.Errorf("got %+v", a)
	}
}

func TestScriptsHaveSafeVariablesOnly(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Passthrough: []string{"MY_TOKEN"}})
	var out bytes.Buffer
	if _, err := s.host.env.Exec(t.Context(), hermes.Command{Line: "export OTHER_SECRET=1 MY_TOKEN=2 TZ=UTC WEIRD=3", Keep: true, Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	a := s.run("import os\nprint({k: os.environ.get(k) for k in ('OTHER_SECRET', 'MY_TOKEN', 'TZ', 'WEIRD', 'HERMES_CHANNEL', 'HERMES_PYTHON_KEY')}, 'PATH' in os.environ)\nprint(open('/proc/self/environ').read().count('SECRET'))")
	want := "{'OTHER_SECRET': None, 'MY_TOKEN': '2', 'TZ': 'UTC', 'WEIRD': None, 'HERMES_CHANNEL': None, 'HERMES_PYTHON_KEY': None} True\n0\n"
	if a.Output != want {
		t.Errorf("got %q, want %q", a.Output, want)
	}
}

// TestAScriptCannotTakeOver: messages that are none, and ends that are not, stop the script only.
func TestAScriptCannotTakeOver(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	find := `
import os, gc, socket
fd = next(int(n) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n) and os.readlink('/proc/self/fd/' + n).startswith('socket:') and int(n) > 2)
`
	for _, text := range []string{"nonsense", `{"ended": 1}`, `{"call": 5, "tool": "memory", "args": {}}`, `{"ready": "x", "key": "'; touch /tmp/x"}`, `[1]`} {
		args := map[string]any{"code": find + "os.write(fd, " + fmt.Sprintf("%q", text+"\n"+text+"\n") + ".encode())\nprint('went on')", "keep": true}
		if _, err := s.call(t.Context(), args); err != nil && !strings.Contains(err.Error(), "no message") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if a := s.run("print('fine')"); a.Output != "fine\n" {
		t.Errorf("got %+v", a)
	}
}

// theirMark is a script that finds how marks begin.
const theirMark = `
import os, sys
f = sys._getframe()
while "mark" not in f.f_locals:
    f = f.f_back
m = f.f_locals["mark"].decode()
`

// TestAScriptChoosesNoInterpreter for later scripts, of its session or of another.
func TestAScriptChoosesNoInterpreter(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	s.run("pass")
	lines := &lineEnv{Environment: s.host.env}
	s.host.env = lines
	s.run("pass")
	for _, session := range []string{"s1", "s2"} {
		s.host.id = session
		for _, ready := range []string{`{"ready": "/tmp/evil", "key": "k"}`, `{"ready": "/tmp/evil", "key": "\\u0000"}`} {
			code := theirMark + "os.write(2, (m + '." + ready + "\\n').encode())"
			if a := s.run(code); a.Status != "success" {
				t.Errorf("got %+v", a)
			}
		}
		if a := s.run("print('fine')"); a.Output != "fine\n" || strings.Contains(lines.last, "evil") {
			t.Errorf("got %+v; line %s", a, lines.last)
		}
	}
}

// lineEnv remembers the last line, and hands no open files.
type lineEnv struct {
	hermes.Environment
	last string
}

func (e *lineEnv) Exec(ctx context.Context, c hermes.Command) (hermes.Exit, error) {
	e.last = c.Line
	return e.Environment.Exec(ctx, c)
}

// TestASessionLearnsNoInterpreterOfAnother, whose walls may be others.
func TestASessionLearnsNoInterpreterOfAnother(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{})
	lines := &lineEnv{Environment: s.host.env}
	s.host.env = lines
	known := func(session string) bool {
		s.host.id = session
		s.run("pass")
		return strings.Contains(lines.last, ") [ ! -x ")
	}
	if known("s1") || !known("s1") || known("s2") {
		t.Error("an interpreter is not known in its session only")
	}
}

// TestNonsenseOnTheStreamsEndsTheScript, and what it sends after it is not waited for.
func TestNonsenseOnTheStreamsEndsTheScript(t *testing.T) {
	t.Parallel()
	s := newScene(t, codeexecution.Config{Timeout: 20 * time.Second})
	s.host.env = plain{s.host.env}
	code := theirMark + "print(1)\nwhile True: os.write(2, (m + '.nonsense\\n').encode())"
	if a := s.run(code); a.Status != "error" || !strings.Contains(a.Error, "no message") || a.Took > 15 {
		t.Errorf("got %+v", a)
	}
}
