//go:build unix

package cmd_test

import (
	"os"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestSessionsAreReadInAHomeThatCannotBeWritten: lists and searches work, changes say why not.
func TestSessionsAreReadInAHomeThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("nothing is read-only for root")
	}
	p := newUser(t, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "a zebra"}, nil
	})...)
	if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	for path, mode := range map[string]os.FileMode{p.home + "/hermes.db": 0o400, p.home: 0o500} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(p.home, 0o700) })
	for _, args := range [][]string{{"sessions", "list", "--all"}, {"sessions", "search", "zebra"}, {"sessions", "show", "latest"}, {"sessions", "export", "-"}, {"sessions", "stats"}, {"insights"}, {"insights", "--json"}} {
		if out, errs, status := p.run(args...); status != 0 || out == "" {
			t.Errorf("%q: status %d: %s%s", args, status, out, errs)
		}
	}
	if _, errs, status := p.run("sessions", "rename", "latest", "another"); status != 1 || !strings.Contains(errs, "cannot be written") {
		t.Errorf("status %d: %s", status, errs)
	}
}
