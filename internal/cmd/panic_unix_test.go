//go:build unix

package cmd_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"hermes/internal/chatserver"
)

// lives waits until a process with the id in a file lives, or lives no more.
func lives(t *testing.T, file string, want bool) {
	t.Helper()
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		raw, _ := os.ReadFile(file)
		pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
		if err == nil && (syscall.Kill(pid, 0) == nil) == want {
			return
		}
	}
	t.Fatalf("the process of %s: lives is not %v", file, want)
}

// TestPanicStopsAllProcesses of the home: a turn of another process ends with what it left
// running, nothing begins, what waited is kept, and it goes on when the user says so.
func TestPanicStopsAllProcesses(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case !r.Offers("terminal"):
			return chatserver.Answer{Text: "Title"}, nil
		case last.Role == "tool":
			<-hold
			return chatserver.Answer{Text: "never"}, nil
		case strings.Contains(last.Text(), "start"):
			return call("terminal", map[string]any{"command": "echo $$ > pid; exec sleep 600", "background": true}), nil
		}
		return chatserver.Answer{Text: "Done: " + last.Text() + "!"}, nil
	})...)
	t.Cleanup(func() { close(hold) }) // before the server is closed
	p.writeConfig("model: {provider: custom, default: played}\nterminal: {sandbox: 'off'}\ndisplay: {busy_input_mode: queue}\n")
	first := p.sit("xterm-256color", "-q", "start it")
	pid := filepath.Join(p.dir, "pid")
	lives(t, pid, true)
	first.press("water them\r")
	first.shows("water them")

	out, errs, status := p.run("panic", "--reason", "it runs wild")
	if status != 0 || !strings.Contains(out, ": stopped 1 turn in 1 session") {
		t.Fatalf("panic: status %d: %s%s", status, out, errs)
	}
	lives(t, pid, false)
	first.shows("hermes panic")
	if out, errs, status := p.run("-z", "hello"); status != 3 || !strings.Contains(errs, "hermes panic --off") || !strings.Contains(errs, "it runs wild") {
		t.Errorf("a question meanwhile: status %d: %s%s", status, out, errs)
	}
	if out, _, status := p.run("panic", "--status"); status != 0 || !strings.Contains(out, "it runs wild") {
		t.Errorf("status: %d %s", status, out)
	}
	first.press("hello\r")
	first.shows("wild") // the reason, which only the refusal has

	agent := p.command("panic", "--off")
	agent.Env = append(agent.Env, "HERMES_STARTED_BY_AGENT="+p.home)
	if raw, err := agent.CombinedOutput(); err == nil || !strings.Contains(string(raw), "was refused") {
		t.Errorf("an agent lifted it: %v %s", err, raw)
	}
	if _, err := os.Stat(filepath.Join(p.home, "panic.json")); err != nil {
		t.Error(err)
	}
	if out, errs, status := p.run("panic", "--off"); status != 0 || !strings.Contains(out, "may begin again") {
		t.Fatalf("off: status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("-z", "hello"); status != 0 || !strings.Contains(out, "Done: hello!") {
		t.Errorf("a question afterwards: status %d: %s%s", status, out, errs)
	}
	if out, _, _ := p.run("audit", "list"); !strings.Contains(out, "stopped") || !strings.Contains(out, "lifted") {
		t.Errorf("the audit log lacks the stop or its end: %s", out)
	}
	first.press("\x15/continue\r")
	first.shows("Done: water them!")
}

// TestABrokenBrakeIsSet: what cannot be read stops everything, and --off removes it.
func TestABrokenBrakeIsSet(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "Well."}, nil })...)
	for name, set := range map[string]func(string) error{
		"no JSON": func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"empty":   func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o700) },
		"link":    func(path string) error { return os.Symlink("/nowhere/at/all", path) },
		"pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		if err := set(filepath.Join(p.home, "panic.json")); err != nil {
			t.Fatal(err)
		}
		if out, errs, status := p.run("-m", "custom:played", "-z", "hello"); status != 3 {
			t.Errorf("%s: status %d: %s%s", name, status, out, errs)
		}
		if out, errs, status := p.run("panic", "--off"); status != 0 {
			t.Errorf("%s: off: status %d: %s%s", name, status, out, errs)
		}
	}
	if out, errs, status := p.run("-m", "custom:played", "-z", "hello"); status != 0 {
		t.Errorf("afterwards: status %d: %s%s", status, out, errs)
	}
}

// TestPanicEndsAProcessThatHangs, with what it left running.
func TestPanicEndsAProcessThatHangs(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if last := r.Messages[len(r.Messages)-1]; r.Offers("terminal") && last.Role != "tool" {
			return call("terminal", map[string]any{"command": "echo $$ > pid; exec sleep 600", "background": true}), nil
		}
		return chatserver.Answer{Text: "Started."}, nil
	})...)
	p.writeConfig("model: {provider: custom, default: played}\nterminal: {sandbox: 'off'}\n")
	first := p.sit("xterm-256color", "-q", "start it")
	first.shows("Started.")
	pid := filepath.Join(p.dir, "pid")
	lives(t, pid, true)
	first.signal(syscall.SIGSTOP)
	out, errs, status := p.run("panic")
	if status != 0 || !strings.Contains(out, "so it was ended") {
		t.Fatalf("panic: status %d: %s%s", status, out, errs)
	}
	lives(t, pid, false)
}
