//go:build unix

package terminal_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/environment"
	"hermes/internal/tool/terminal"
)

// host is a session that answers questions from a list.
type host struct {
	hermes.Host
	environment hermes.Environment
	answers     []string
	id          string // of the session; "s" if it is empty

	mu    sync.Mutex
	asked []hermes.Question
	said  []string
}

func (h *host) Environment() hermes.Environment { return h.environment }
func (h *host) Session() hermes.SessionRef      { return hermes.SessionRef{ID: cmp.Or(h.id, "s")} }

func (h *host) Progress(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, text)
}

func (h *host) Ask(_ context.Context, q hermes.Question) (hermes.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, q)
	if len(h.answers) == 0 {
		return hermes.Answer{}, errors.New("no user can be asked")
	}
	a := h.answers[0]
	h.answers = h.answers[1:]
	return hermes.Answer{Texts: []string{a}}, nil
}

// fixture is the toolset of one session with its place.
type fixture struct {
	t     testing.TB
	set   *terminal.Toolset
	host  *host
	tools map[string]hermes.Tool
	dir   string

	mu    sync.Mutex
	woken []string
	wake  chan struct{}
}

func mustFixture(t testing.TB, c terminal.Config, env ...string) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	e, err := environment.NewLocal(environment.LocalConfig{
		Dir: dir, Home: cmp.Or(c.Home, dir), Temp: t.TempDir(), Env: append([]string{"PATH=" + path, "HOME=" + dir}, env...),
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &fixture{t: t, dir: dir, host: &host{environment: e}, tools: map[string]hermes.Tool{}, wake: make(chan struct{}, 1000)}
	c.Wake = func(_, text string) {
		b.mu.Lock()
		b.woken = append(b.woken, text)
		b.mu.Unlock()
		b.wake <- struct{}{}
	}
	b.set = terminal.New(c)
	tools, err := b.set.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools {
		b.tools[tool.Spec().Name] = tool
	}
	t.Cleanup(func() {
		if err := errors.Join(b.set.Close(), e.Close()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// answer is what the model may read of any call.
type answer struct {
	Output, Error, Status, Note, Lines, Cwd string
	ExitCode                                *int   `json:"exit_code"`
	Meaning                                 string `json:"exit_code_meaning"`
	SudoFailed                              bool   `json:"sudo_auth_failed"`
	ID                                      string `json:"session_id"`
	PID                                     int
	Processes                               []answer
	Command                                 string
	failed                                  bool
	Blocked                                 []string
	Advice                                  string `json:"blocked_advice"`
}

func (b *fixture) call(ctx context.Context, tool string, arguments map[string]any) (answer, error) {
	b.t.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := b.tools[tool].Run(ctx, &hermes.Call{ID: "c", Name: tool, Arguments: text, Host: b.host})
	if err != nil {
		return answer{}, err
	}
	var a answer
	if err := json.Unmarshal([]byte(r.Text), &a); err != nil {
		b.t.Fatalf("%s: %v", r.Text, err)
	}
	a.failed = r.Failed
	return a, nil
}

func (b *fixture) must(tool string, arguments map[string]any) answer {
	b.t.Helper()
	a, err := b.call(b.t.Context(), tool, arguments)
	if err != nil {
		b.t.Fatalf("%v: %v", arguments, err)
	}
	return a
}

func (b *fixture) run(command string) answer {
	b.t.Helper()
	return b.must("terminal", map[string]any{"command": command})
}

func (b *fixture) start(command string, more map[string]any) answer {
	b.t.Helper()
	arguments := map[string]any{"command": command, "background": true}
	for k, v := range more {
		arguments[k] = v
	}
	return b.must("terminal", arguments)
}

func (b *fixture) process(action, id string, more map[string]any) answer {
	b.t.Helper()
	arguments := map[string]any{"action": action, "session_id": id}
	for k, v := range more {
		arguments[k] = v
	}
	return b.must("process", arguments)
}

func (b *fixture) notices() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.woken)
}

func code(a answer) int {
	if a.ExitCode == nil {
		return -1
	}
	return *a.ExitCode
}

func TestCommandTellsOutputAndExitCode(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	for _, c := range []struct {
		command, output string
		code            int
		failed          bool
	}{
		{"echo out; echo err >&2", "out\nerr\n", 0, false},
		{"exit 3", "", 3, true},
		{"printf 'a\\033[31mred\\033[0m\\033]0;title\\007b'", "aredb", 0, false},
		{"printf '[1m] (x) {y}'", "[1m] (x) {y}", 0, false},
		{"printf 'bad \\377\\376 bytes'", "bad \ufffd bytes", 0, false},
		{"printf '10%%\\r50%%\\r100%%\\ndone\\r\\n'", "100%\ndone\n", 0, false},
		{"printf 'é日本\\n'", "é日本\n", 0, false},
		{"cat", "", 0, false},
	} {
		a := b.run(c.command)
		if a.Output != c.output || code(a) != c.code || a.failed != c.failed {
			t.Errorf("%s: output %q, code %d, failed %v", c.command, a.Output, code(a), a.failed)
		}
	}
}

func TestFolderAndVariablesCarryOver(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	if a := b.run("mkdir sub && cd sub && export X=1"); a.Cwd != b.dir+"/sub" {
		t.Errorf("the new folder is reported as %q", a.Cwd)
	}
	if a := b.run(`echo "$PWD $X"`); a.Output != b.dir+"/sub 1\n" || a.Cwd != "" {
		t.Errorf("got %+v", a)
	}
	if a := b.must("terminal", map[string]any{"command": "cd /; pwd", "workdir": b.dir}); a.Output != "/\n" {
		t.Errorf("got %+v", a)
	}
	if a := b.run("pwd"); a.Output != b.dir+"/sub\n" {
		t.Errorf("workdir of one call moved the session to %q", a.Output)
	}
}

func TestWrongArgumentsSayWhatToDo(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	for want, arguments := range map[string]map[string]any{
		"command is empty":        {"command": "  "},
		"background=true":         {"command": "ls", "timeout": 601},
		"cannot be combined":      {"command": "ls", "background": true, "notify_on_complete": true, "watch_patterns": []string{"x"}},
		"need background=true":    {"command": "ls", "notify_on_complete": true},
		"not allowed there":       {"command": "ls", "workdir": "/tmp; rm -rf /"},
		"is not allowed there":    {"command": "ls", "workdir": "$(pwd)"},
		"not allowed there; give": {"command": "ls", "workdir": "/tmp\nls"},
		"does not exist":          {"command": "ls", "workdir": "/no/such/folder"},
		"session_id is missing":   {"action": "poll"},
		"unknown":                 {"action": "dance", "session_id": b.start("sleep 3000", nil).ID},
	} {
		tool := "terminal"
		if arguments["action"] != nil {
			tool = "process"
		}
		if _, err := b.call(t.Context(), tool, arguments); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q in it", arguments, err, want)
		}
	}
}

func TestTimeoutKeepsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	var a answer
	for timeout := 1; timeout < 100 && a.Output == ""; timeout *= 3 { // until the shell had the time to say something
		a = b.must("terminal", map[string]any{"command": "echo before; sleep 300 & sleep 300", "timeout": timeout})
		a.Error = strings.Replace(a.Error, fmt.Sprint(timeout, " seconds"), "the seconds given", 1)
	}
	if a.Output != "before\n" || code(a) != 124 || !a.failed || !strings.Contains(a.Error, "the seconds given") || !strings.Contains(a.Error, "background=true") {
		t.Errorf("got %+v", a)
	}
}

func TestInterruptIsMarked(t *testing.T) {
	t.Parallel()
	for _, pty := range []bool{false, true} {
		b := mustFixture(t, terminal.Config{Now: steady()})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for { // until the command has begun
				b.host.mu.Lock()
				said := len(b.host.said)
				b.host.mu.Unlock()
				if said > 0 || ctx.Err() != nil {
					break
				}
				runtime.Gosched()
			}
			cancel()
		}()
		a, err := b.call(ctx, "terminal", map[string]any{"command": "echo one; while :; do echo two; sleep 0.01; done", "pty": pty})
		if err != nil || code(a) != 130 || !strings.HasPrefix(a.Output, "one\n") || !strings.HasSuffix(a.Output, "[Command interrupted]") {
			t.Errorf("pty %v: got %+v, error %v", pty, a, err)
		}
		cancel()
	}
}

// steady is a clock that goes on a second at each look.
func steady() func() time.Time {
	var mu sync.Mutex
	now := time.Unix(1_000_000, 0)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func TestLongOutputLosesItsMiddle(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{MaxOutput: 1000})
	a := b.run("echo first; seq 100000 200000; echo last")
	head, tail, ok := strings.Cut(a.Output, "\n\n[…")
	if !ok || !strings.HasPrefix(head, "first\n100000\n") || !strings.HasSuffix(tail, "\n200000\nlast\n") {
		t.Fatalf("output %q", a.Output)
	}
	_, tail, _ = strings.Cut(tail, "…]\n\n")
	if len(head) != 400 || len(tail) != 600 {
		t.Errorf("%d bytes of the beginning and %d of the end", len(head), len(tail))
	}
	if !strings.Contains(a.Output, "bytes left out") {
		t.Errorf("the gap is not reported: %q", a.Output)
	}
}

func TestGigabyteOfOutputStaysFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("prints a gigabyte")
	}
	b := mustFixture(t, terminal.Config{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	a := b.must("terminal", map[string]any{"command": "yes 0123456789012345678901234567890123456789 | head -c 1000000000", "timeout": 600})
	runtime.ReadMemStats(&after)
	if code(a) != 0 || len(a.Output) > 60_000 {
		t.Errorf("code %d, %d bytes", code(a), len(a.Output))
	}
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 8<<20 {
		t.Errorf("%d bytes were allocated on the way", made)
	}
}

func TestExitCodesThatAreNoFailureGetANote(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	for _, c := range []struct {
		command, note string
		code          int
		failed        bool
	}{
		{"echo a | grep b", "no matches", 1, false},
		{"echo a | LC_ALL=C /bin/grep b", "no matches", 1, false},
		{"echo a >x; echo b >y; diff x y", "differences", 1, false},
		{"test -f nope", "false", 1, false},
		{"[ 1 = 2 ]", "false", 1, false},
		{"[[ 1 = 2 ]]", "false", 1, false},
		{"cd .; grep zzz x", "no matches", 1, false},
		{"false || grep zzz x", "no matches", 1, false},
		{"cd . && grep zzz x", "", 1, true},
		{"cd nowhere && grep zzz x", "", 1, true},
		{"false && grep zzz x", "", 1, true},
		{"set -o pipefail; false | cat | grep a", "", 1, true},
		{"set -e; false; grep zzz x", "", 1, true},
		{"grep zzz < nowhere", "", 1, true},
		{"command -v no/ack", "", 1, true},
		{"find x -exec false {} +", "", 1, true},
		{"grep zzz nope", "", 2, true},
		{"grep zzz x; false", "", 1, true},
		{"false", "", 1, true},
		{"exit 1", "", 1, true},
		{"! true", "", 1, true},
		{"mkdir bin; printf 'exit 6' >bin/curl; printf 'exit 1' >bin/find; chmod +x bin/*; bin/curl x", "resolved", 6, true},
		{"bin/find .", "could not be read", 1, false},
		{"curl() { return 6; }; curl x", "", 6, true},
	} {
		a := b.run(c.command)
		if code(a) != c.code || a.failed != c.failed || !strings.Contains(a.Meaning, c.note) || c.note == "" && a.Meaning != "" {
			t.Errorf("%s: code %d, note %q, failed %v", c.command, code(a), a.Meaning, a.failed)
		}
	}
}

func TestPseudoTerminal(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	a := b.must("terminal", map[string]any{"command": "test -t 1 && echo tty; printf '\\033[2J\\033[1;1Hplain\\n'; cd /; exit 4", "pty": true})
	if a.Output != "tty\nplain\n" || code(a) != 4 || a.Cwd != "/" {
		t.Errorf("got %+v", a)
	}
	if a := b.run("test -t 1 || echo none"); a.Output != "none\n" {
		t.Errorf("got %+v", a)
	}
}

func TestRisksNameThePatterns(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{Home: "/home/ada", Hermes: "/home/ada/.hermes"})
	shell := b.start("bash", nil).ID
	group := b.start("(bash)", nil).ID
	python := b.start("sleep 3000; python3 -i", nil).ID
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		key       string
		floor     bool
	}{
		{"terminal", map[string]any{"command": "ls"}, "", false},
		{"terminal", map[string]any{"command": "rm -rf build"}, "recursive-delete", false},
		{"terminal", map[string]any{"command": "rm -rf /"}, "delete-root", true},
		{"terminal", map[string]any{"command": "rm -rf *", "workdir": "/"}, "delete-root", true},
		{"terminal", map[string]any{"command": "rm -rf *"}, "recursive-delete", false},
		{"terminal", map[string]any{"command": "hermes gateway", "background": true}, "gateway-background", false},
		{"process", map[string]any{"action": "submit", "session_id": shell, "data": "rm -rf /"}, "delete-root", true},
		{"process", map[string]any{"action": "write", "session_id": shell, "data": "$x -rf /"}, "dynamic-command", false},
		{"process", map[string]any{"action": "write", "session_id": group, "data": "$x -rf /"}, "dynamic-command", false},
		{"process", map[string]any{"action": "submit", "session_id": python, "data": "print('open"}, "", false},
		{"process", map[string]any{"action": "submit", "session_id": python, "data": "y"}, "", false},
		{"process", map[string]any{"action": "kill", "session_id": shell}, "", false},
	} {
		text, _ := json.Marshal(c.arguments)
		found := b.tools[c.tool].(hermes.RiskAssessor).AssessRisk(t.Context(), &hermes.Call{Name: c.tool, Arguments: text, Host: b.host})
		if c.key == "" {
			if len(found) != 0 {
				t.Errorf("%v: %v", c.arguments, found)
			}
			continue
		}
		if i := slices.IndexFunc(found, func(r hermes.Risk) bool { return r.Key == c.key }); i < 0 || found[i].Deny != c.floor || found[i].Reason == "" {
			t.Errorf("%v: %v", c.arguments, found)
		}
	}
}

func TestToolsAreSmall(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	for name, tool := range b.tools {
		s := tool.Spec()
		if size := len(s.Description) + len(s.Schema); size > 1250 {
			t.Errorf("%s takes %d bytes of every request", name, size)
		}
	}
}
