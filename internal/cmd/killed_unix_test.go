//go:build unix

package cmd_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestAKilledSessionIsResumedAtOnce: also while the killed process is a zombie, and with
// another one alive in the same home.
func TestAKilledSessionIsResumedAtOnce(t *testing.T) {
	t.Parallel()
	asked, release := make(chan string, 10), make(chan struct{})
	defer close(release)
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		text := r.Messages[len(r.Messages)-1].Text()
		if strings.HasPrefix(text, "wait ") && len(text) < 10 { // not what asks for a title
			asked <- text
			<-release
		}
		return chatserver.Answer{Text: "done: " + text}, nil
	})...)
	for _, name := range []string{"wait one", "wait two"} {
		c := p.command("-z", name, "-m", "played")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		<-asked
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		if name == "wait one" {
			continue // it lives on
		}
		if err := c.Process.Kill(); err != nil { // and does not wait for it
			t.Fatal(err)
		}
	}
	rows, errs, status := p.run("sessions", "list", "--all")
	var one, two string
	for line := range strings.Lines(rows) {
		id, _, _ := strings.Cut(line, " ")
		switch {
		case strings.Contains(line, "wait one"):
			one = id
		case strings.Contains(line, "wait two"):
			two = id
		}
	}
	if status != 0 || one == "" || two == "" {
		t.Fatalf("status %d: %s%s", status, rows, errs)
	}
	out, errs, status := p.run("--resume", two, "-z", "and now", "-m", "played")
	for tries := 0; status != 0 && tries < 5; tries++ { // its threads end one after another
		out, errs, status = p.run("--resume", two, "-z", "and now", "-m", "played")
	}
	if status != 0 || !strings.Contains(out, "done: and now") {
		t.Errorf("the killed session: status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("--resume", one, "-z", "and now", "-m", "played"); status != 1 || !strings.Contains(errs, "is open in process ") {
		t.Errorf("the living session: status %d: %s%s", status, out, errs)
	}
	left, err := filepath.Glob(filepath.Join(p.home, "run", "*.lock"))
	if err != nil || len(left) == 0 || len(left) > 2 {
		t.Errorf("lock files %v, %v", left, err)
	}
}
