package cmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// TestEditsAndCommandsOfAModel runs the built program on a disk, so that what the
// tools promise holds with the files, the hooks and the chain that it really has.
func TestEditsAndCommandsOfAModel(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	put := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(p.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	put("a.txt", "one\ntwo\nthree\n", 0o644)
	put("private", "secret plan\n", 0o600)
	put("run.sh", "echo hi\n", 0o750)
	put("svc/x.go", "package x\n\nfunc f() {}\n", 0o644)
	put("svc/AGENTS.md", "use tabs in svc\n", 0o644)
	if err := os.Symlink("a.txt", filepath.Join(p.dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	steps := []chatserver.Answer{
		call("patch", map[string]any{"mode": "patch", "patch": "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n two\n*** Update File: ./link.txt\n two\n-three\n+3\n" +
			"*** Move File: private -> kept/private\n*** Update File: run.sh\n*** Move to: kept/run.sh\n-echo hi\n+echo ho\n*** End Patch\n"}),
		call("terminal", map[string]any{"command": "printf 'line1\\rline2\\r'; cat svc/x.go"}),
		call("terminal", map[string]any{"command": "cd nowhere 2>/dev/null && grep x y"}),
		call("patch", map[string]any{"path": "svc/x.go", "old_string": "package y and more", "new_string": "package x"}),
	}
	var told []string
	p.env = append(p.env, serve(t, func(r *chatserver.Request) (chatserver.Answer, error) {
		if n := results(r); n > 0 {
			told = append(told, r.Messages[len(r.Messages)-1].Text())
		}
		if n := results(r); n < len(steps) {
			return steps[n], nil
		}
		return chatserver.Answer{Text: "done"}, nil
	})...)
	if out, errs, status := p.run("-z", "go", "-m", "played"); status != 0 || !strings.Contains(out, "done") || len(told) != len(steps) {
		t.Fatalf("status %d, %d results: %s %s", status, len(told), out, errs)
	}

	for name, want := range map[string]struct {
		text string
		mode os.FileMode
	}{"a.txt": {"1\ntwo\n3\n", 0o644}, "kept/private": {"secret plan\n", 0o600}, "kept/run.sh": {"echo ho\n", 0o750}} {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if err != nil || string(text) != want.text {
			t.Errorf("%s has %q, %v", name, text, err)
		}
		if info, err := os.Stat(filepath.Join(p.dir, name)); err != nil || info.Mode().Perm() != want.mode {
			t.Errorf("%s: %v, want mode %o", name, info, want.mode)
		}
	}
	if to, err := os.Readlink(filepath.Join(p.dir, "link.txt")); err != nil || to != "a.txt" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if !strings.Contains(told[1], `line1\nline2`) || !strings.Contains(told[1], "use tabs in svc") {
		t.Errorf("the command's result is %s", told[1])
	}
	if strings.Contains(told[2], "not an error") {
		t.Errorf("cd failed, and grep explains it: %s", told[2])
	}
	if !strings.Contains(told[3], "was not found") {
		t.Errorf("an edit that was not made: %s", told[3])
	}
}
