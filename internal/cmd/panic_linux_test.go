package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/chatserver"
)

// leaves starts programs that get away from the command that starts them, each with its process id in a file.
const leaves = `setsid -f sh -c 'echo $$ > p1; exec sleep 600'
setsid nohup sh -c 'echo $$ > p2; exec sleep 600' > /dev/null 2>&1 &
env -i setsid sh -c 'echo $$ > p3; exec sleep 600' > /dev/null 2>&1 &
(setsid sh -c '(exec 0<&- 1>&- 2>&-; env -i setsid sh -c "echo \$\$ > p4; exec sleep 600") & exit' &)
nohup sh -c 'echo $$ > p5; exec sleep 600' > /dev/null 2>&1 &
setsid sh -c 'trap "" TERM HUP INT; echo $$ > p6; while :; do sleep 1; done' > /dev/null 2>&1 &
for i in 1 2 3 4 5 6; do while ! test -s p$i; do sleep 0.05; done; done; echo started`

// TestPanicEndsWhatCommandsLeft: what a command left running ends with the work, however it got away from its command,
// with a sandbox and without, in a process that answers and in one that hangs.
func TestPanicEndsWhatCommandsLeft(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is not installed")
	}
	for _, sandbox := range []string{"off", "auto"} {
		for _, hangs := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v", sandbox, hangs), func(t *testing.T) {
				t.Parallel()
				p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
					if last := r.Messages[len(r.Messages)-1]; r.Offers("terminal") && last.Role != "tool" && strings.Contains(last.Text(), "start") {
						return call("terminal", map[string]any{"command": leaves, "timeout": 30}), nil
					}
					if slices.ContainsFunc(r.Messages, func(m chatserver.Message) bool { return strings.Contains(m.Text(), "once more") }) {
						return chatserver.Answer{Text: "Second answer."}, nil
					}
					return chatserver.Answer{Text: "Started."}, nil
				})...)
				p.writeConfig("model: {provider: custom, default: played}\napprovals: {mode: 'off'}\nterminal: {sandbox: '" + sandbox + "'}\n")
				first := p.sit("xterm-256color", "-q", "start it")
				first.shows("Started.")
				p.sleepers(t, 5)
				want := " in 1 session" // the turn may not be over yet
				if hangs {
					first.signal(syscall.SIGSTOP)
					want = "so it was ended"
				}
				if out, errs, status := p.run("panic"); status != 0 || !strings.Contains(out, want) {
					t.Errorf("panic: status %d: %s%s", status, out, errs)
				}
				if left := p.marked(t, "sleep"); len(left) > 0 {
					t.Errorf("%v still run", left)
				}
				if hangs {
					return
				}
				if out, errs, status := p.run("panic", "--off"); status != 0 {
					t.Fatalf("off: status %d: %s%s", status, out, errs)
				}
				first.press("start once more\r")
				first.shows("Second answer.")
				p.sleepers(t, 5)                                      // commands run again
				if out, errs, status := p.run("panic"); status != 0 { // what ignores signals would outlive the test
					t.Errorf("panic again: status %d: %s%s", status, out, errs)
				}
			})
		}
	}
}

// sleepers waits for so many processes of the user that sleep. One look does not suffice: while a
// process is being replaced by another program, its command line reads as empty.
func (p *user) sleepers(t *testing.T, n int) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		found := p.marked(t, "sleep 600")
		if len(found) >= n {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("of %d processes run %v", n, found)
		}
	}
}

// marked lists the processes with these words in their command line whose folder is that of the user.
func (p *user) marked(t *testing.T, words string) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		line, cwd := commandLine(dir)
		if strings.Contains(line, words) && cwd == p.dir {
			found = append(found, filepath.Base(dir)+": "+line)
		}
	}
	return found
}

// commandLine is that of a process, and the folder that it runs in; empty when it has ended.
func commandLine(dir string) (line, cwd string) {
	raw, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return "", ""
	}
	cwd, err = os.Readlink(filepath.Join(dir, "cwd"))
	if err != nil {
		return "", ""
	}
	return strings.ReplaceAll(string(raw), "\x00", " "), cwd
}
