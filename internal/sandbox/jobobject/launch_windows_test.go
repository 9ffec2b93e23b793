package jobobject_test

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/proc"
	"hermes/internal/sandbox/jobobject"
)

// TestAProgramRunsWithFewRights starts a program that changes nothing, and one that writes a
// file of medium integrity.
func TestAProgramRunsWithFewRights(t *testing.T) {
	l, err := jobobject.New(jobobject.Limits{Processes: 8, MemoryBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	kept := filepath.Join(t.TempDir(), "kept.txt")
	if err := os.WriteFile(kept, []byte("as it was"), 0o600); err != nil {
		t.Fatal(err)
	}
	shell := filepath.Join(os.Getenv("SystemRoot"), "System32", "cmd.exe")
	for line, want := range map[string]bool{"exit 7": false, "echo changed> \"" + kept + "\"": false} {
		c, err := l.Launch(proc.Spec{Path: shell, Args: []string{"/d", "/c", line}, Dir: os.TempDir(), Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		if code := c.Wait(); (code == 0) != want {
			t.Errorf("%s ended with %d", line, code)
		}
		c.Close()
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "as it was" {
		t.Errorf("the file is %q, %v", text, err)
	}
}
