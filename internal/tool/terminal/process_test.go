//go:build unix

package terminal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/tool/terminal"
)

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestBackgroundProcessFromStartToEnd(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	a := b.start("echo hello; read x; echo got $x; read y; exit 3", nil)
	if a.ID == "" || a.PID == 0 || a.Status != "running" {
		t.Fatalf("started as %+v", a)
	}
	for !strings.Contains(b.process("log", a.ID, nil).Output, "hello") { // which takes nothing from the next look
		<-time.After(5 * time.Millisecond)
	}
	if r := b.process("wait", a.ID, map[string]any{"timeout": 1}); r.Status != "timeout" || r.Output != "hello\n" {
		t.Errorf("wait: %+v", r)
	}
	if r := b.process("poll", a.ID, nil); r.Status != "running" || r.Output != "" || r.ExitCode != nil {
		t.Errorf("poll: %+v", r)
	}
	if r := b.process("submit", a.ID, map[string]any{"data": "one"}); r.Status != "ok" {
		t.Errorf("submit: %+v", r)
	}
	if r := b.process("close", a.ID, nil); r.Status != "ok" {
		t.Errorf("close: %+v", r)
	}
	r := b.process("wait", a.ID, nil)
	if r.Status != "exited" || code(r) != 3 || r.Output != "got one\n" || !r.failed {
		t.Errorf("wait: %+v", r)
	}
	if r := b.process("log", a.ID, nil); r.Output != "hello\ngot one" || r.Lines != "1-2 of 2" {
		t.Errorf("log: %+v", r)
	}
	if r := b.process("log", a.ID, map[string]any{"offset": 2, "limit": 1}); r.Output != "got one" || r.Lines != "2-2 of 2" {
		t.Errorf("log of a line: %+v", r)
	}
	if r := b.process("kill", a.ID, nil); r.Status != "already_exited" {
		t.Errorf("kill: %+v", r)
	}
	if r := b.process("write", a.ID, map[string]any{"data": "x"}); r.Status != "already_exited" || !r.failed {
		t.Errorf("write: %+v", r)
	}
	if r := b.process("poll", "proc_unknown", nil); r.Status != "not_found" || !r.failed {
		t.Errorf("unknown: %+v", r)
	}
	if r := b.process("list", "", nil); len(r.Processes) != 1 || r.Processes[0].ID != a.ID || r.Processes[0].Status != "exited" {
		t.Errorf("list: %+v", r)
	}
}

func TestLogShowsTheEndByDefault(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	id := b.start("seq 1000", nil).ID
	b.process("wait", id, nil)
	if r := b.process("log", id, nil); !strings.HasPrefix(r.Output, "801\n") || !strings.HasSuffix(r.Output, "\n1000") || r.Lines != "801-1000 of 1000" {
		t.Errorf("lines %s: %.20q…", r.Lines, r.Output)
	}
	id = b.start("seq 100000", nil).ID
	b.process("wait", id, nil)
	r := b.process("log", id, nil)
	if !strings.HasSuffix(r.Output, "\n100000") || !strings.Contains(r.Note, "dropped") {
		t.Errorf("note %q, output …%q", r.Note, r.Output[max(0, len(r.Output)-20):])
	}
	if r := b.process("log", id, map[string]any{"offset": 1_000_000}); r.Output != "" {
		t.Errorf("beyond the end: %+v", r)
	}
}

func TestKillEndsTheProcessWithItsChildren(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	id := b.start("sleep 300 & sleep 300", map[string]any{"notify_on_complete": true}).ID
	// A shell that a loaded machine does not let act on the gentle signal is ended by force.
	if r := b.process("kill", id, nil); r.Status != "killed" || code(r) != 143 && code(r) != 137 {
		t.Errorf("kill: %+v", r)
	}
	if n := b.notices(); len(n) != 0 {
		t.Errorf("the caller that killed it was notified: %q", n)
	}
}

func TestEndIsReported(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	id := b.start("echo result; exit 2", map[string]any{"notify_on_complete": true}).ID
	<-b.wake
	want := "[IMPORTANT: Background process " + id + " completed (exit code 2)]\nCommand: echo result; exit 2\nOutput:\nresult"
	if got := b.notices(); len(got) != 1 || got[0] != want {
		t.Errorf("notified %q, want %q", got, want)
	}
}

func TestEndIsNotReportedTwice(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	id := b.start("read x", map[string]any{"notify_on_complete": true}).ID
	done := make(chan answer)
	go func() { done <- b.process("wait", id, nil) }()
	b.process("submit", id, map[string]any{"data": "x"})
	if r := <-done; r.Status != "exited" {
		t.Errorf("wait: %+v", r)
	}
	if err := b.set.Close(); err != nil {
		t.Fatal(err)
	}
	if n := b.notices(); len(n) > 1 {
		t.Errorf("notified %q", n)
	}
}

func TestMatchingLinesAreReportedWithinBounds(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := mustFixture(t, terminal.Config{Now: c.Now})
	id := b.start("while read x; do echo $x; done", map[string]any{"watch_patterns": []string{"ready", "ERROR"}}).ID
	say := func(lines string) {
		t.Helper()
		b.process("submit", id, map[string]any{"data": lines + "\nsync " + lines})
		for !strings.Contains(b.process("log", id, nil).Output, "sync "+lines) {
			<-time.After(5 * time.Millisecond)
		}
	}
	say("nothing")
	if n := b.notices(); len(n) != 0 {
		t.Fatalf("notified %q", n)
	}
	b.process("submit", id, map[string]any{"data": "server ready on 80"})
	<-b.wake
	if n := b.notices(); len(n) != 1 || n[0] != "[IMPORTANT: Background process "+id+` matched "ready"]`+"\nserver ready on 80" {
		t.Fatalf("notified %q", n)
	}
	for i := range 3 { // each window has more than one: three strikes
		say(fmt.Sprintf("ERROR again %d", i))
		c.add(16 * time.Second)
		say(fmt.Sprintf("ERROR later %d", i))
	}
	n := b.notices()
	if len(n) != 4 || !strings.Contains(n[3], "no longer watched") || !strings.Contains(n[1], "more matching lines") {
		t.Fatalf("notified %d times: %q", len(n), n)
	}
	c.add(time.Hour)
	say("ERROR unheard")
	b.process("close", id, nil)
	for len(b.notices()) < 5 {
		<-b.wake
	}
	if n := b.notices(); !strings.Contains(n[4], "completed (exit code 0)") {
		t.Errorf("in the end: %q", n[4])
	}
}

func TestEndedProcessesAreForgottenInTime(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := mustFixture(t, terminal.Config{Now: c.Now})
	id := b.start("true", nil).ID
	b.process("wait", id, nil)
	c.add(29 * time.Minute)
	if r := b.process("poll", id, nil); r.Status != "exited" {
		t.Errorf("after 29 minutes: %+v", r)
	}
	c.add(2 * time.Minute)
	if r := b.process("poll", id, nil); r.Status != "not_found" {
		t.Errorf("after 31 minutes: %+v", r)
	}
}

func TestProcessesAreBounded(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	short := b.start("true", nil).ID
	b.process("wait", short, nil)
	for range 63 {
		b.start("sleep 300", nil)
	}
	b.start("sleep 300", nil) // the ended one makes room
	if r := b.process("poll", short, nil); r.Status != "not_found" {
		t.Errorf("the ended one: %+v", r)
	}
	_, err := b.call(t.Context(), "terminal", map[string]any{"command": "sleep 300", "background": true})
	if err == nil || !strings.Contains(err.Error(), "64") {
		t.Errorf("error %v", err)
	}
	b.set.Stop(hermes.SessionRef{ID: "s"})
	for _, p := range b.process("list", "", nil).Processes {
		if p.Status == "running" {
			t.Errorf("it survived StopAll: %+v", p)
		}
	}
}

func TestTerminalOfABackgroundProcess(t *testing.T) {
	t.Parallel()
	b := mustFixture(t, terminal.Config{})
	id := b.start(`printf 'name? '; read x; echo "hi $x"`, map[string]any{"pty": true}).ID
	b.process("submit", id, map[string]any{"data": "ada"})
	if r := b.process("wait", id, nil); !strings.Contains(r.Output, "name? ") || !strings.Contains(r.Output, "hi ada\n") {
		t.Errorf("output %q", r.Output)
	}
}

// fakeSudo behaves as sudo does, with the password "geheim".
const fakeSudo = `#!/bin/sh
stdin= ask=1 verify=
while :; do case $1 in
  -n) [ -e "$NOPASSWD" ] && exit 0; echo "sudo: a password is required" >&2; exit 1;;
  -S) stdin=1; shift;; -k) shift;; -v) verify=1; shift;; -p) prompt=$2; shift 2;; *) break;;
esac; done
if [ ! -e "$NOPASSWD" ] && [ ! -e "$HOME/.stamp" ]; then
  [ -n "$stdin" ] || { echo "sudo: a terminal is required to read the password" >&2; exit 1; }
  printf '%s' "$prompt" >&2
  read -r given
  [ "$given" = "geheim" ] || { echo "sudo: 1 incorrect password attempt" >&2; exit 1; }
fi
[ -n "$verify" ] && { touch "$HOME/.stamp"; exit 0; }
echo "as root:"; exec "$@"
`

func withSudo(t *testing.T, c terminal.Config, env ...string) *fixture {
	t.Helper()
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sudo"), []byte(fakeSudo), 0o755); err != nil {
		t.Fatal(err)
	}
	return mustFixture(t, c, append(env, "PATH="+bin+":"+os.Getenv("PATH"))...)
}

func configured(password hermes.Secret) func() (hermes.Secret, bool) {
	return func() (hermes.Secret, bool) { return password, true }
}

func TestSudoGetsItsPassword(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command, output string
		failed          bool
	}{
		"one":         {"sudo echo x", "as root:\nx\n", false},
		"two":         {"sudo echo x; sudo cat", "as root:\nx\nas root:\n", false},
		"piped":       {"echo data | sudo cat", "as root:\ndata\n", false},
		"not a call":  {"echo sudo ls", "sudo ls\n", false},
		"it is shown": {"sudo echo geheim", "as root:\n***\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := withSudo(t, terminal.Config{SudoPassword: configured("geheim")})
			if a := b.run(c.command); a.Output != c.output || a.SudoFailed != c.failed {
				t.Errorf("got %+v", a)
			}
		})
	}
}

func TestWrongSudoPasswordIsReported(t *testing.T) {
	t.Parallel()
	for _, password := range []hermes.Secret{"wrong", ""} { // an empty one is used as such
		b := withSudo(t, terminal.Config{SudoPassword: configured(password)})
		if a := b.run("sudo echo x"); !a.SudoFailed || code(a) != 1 {
			t.Errorf("%q: got %+v", password.Reveal(), a)
		}
	}
}

func TestSudoPasswordIsAskedForOnce(t *testing.T) {
	t.Parallel()
	b := withSudo(t, terminal.Config{})
	b.host.answers = []string{"wrong", "geheim"}
	if a := b.run("sudo echo x"); !a.SudoFailed {
		t.Errorf("got %+v", a)
	}
	for range 2 {
		if a := b.run("sudo echo x"); a.Output != "as root:\nx\n" {
			t.Errorf("got %+v", a)
		}
	}
	if len(b.host.asked) != 2 || !b.host.asked[0].Secret {
		t.Errorf("asked %+v", b.host.asked)
	}
}

func TestSudoWithoutPasswordIsUnchanged(t *testing.T) {
	t.Parallel()
	b := withSudo(t, terminal.Config{})
	if a := b.run("sudo echo x"); !strings.Contains(a.Output, "a terminal is required") || a.SudoFailed {
		t.Errorf("with no user to ask: %+v", a)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b = withSudo(t, terminal.Config{SudoPassword: configured("geheim")}, "NOPASSWD="+mark)
	if a := b.run("echo data | cat; sudo cat"); a.Output != "data\nas root:\n" {
		t.Errorf("a password went to a sudo that wants none: %+v", a)
	}
}

// TestASessionSeesItsOwnProcessesOnly: another session of the program neither lists nor ends nor
// reads a process, and its end does not end it.
func TestASessionSeesItsOwnProcessesOnly(t *testing.T) {
	b := mustFixture(t, terminal.Config{})
	id := b.must("terminal", map[string]any{"command": "sleep 300", "background": true}).ID
	mine := b.host
	b.host = &host{environment: mine.environment, id: "other"}
	if list := b.must("process", map[string]any{"action": "list"}); len(list.Processes) > 0 {
		t.Errorf("another session lists %+v", list.Processes)
	}
	for _, action := range []string{"kill", "poll", "log", "wait"} {
		if a, err := b.call(t.Context(), "process", map[string]any{"action": action, "session_id": id, "timeout": 1}); err == nil && !a.failed && a.Error == "" {
			t.Errorf("another session could %s it: %+v", action, a)
		}
	}
	b.set.Stop(hermes.SessionRef{ID: "other"})
	b.set.Hook().SessionEnd(t.Context(), hermes.SessionRef{ID: "other"})
	if news := b.set.News("other"); news != "" {
		t.Errorf("another session hears %q", news)
	}
	b.host = mine
	if list := b.must("process", map[string]any{"action": "list"}); len(list.Processes) != 1 || list.Processes[0].Status != "running" {
		t.Errorf("its own session lists %+v", list.Processes)
	}
	b.set.Hook().SessionEnd(t.Context(), hermes.SessionRef{ID: "s"})
	if list := b.must("process", map[string]any{"action": "list"}); len(list.Processes) != 0 {
		t.Errorf("after its end the session lists %+v", list.Processes)
	}
}
