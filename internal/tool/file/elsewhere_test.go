package file_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/tool/file"
)

// TestFilesElsewhereAreJudgedByTheHomeThere: the folders and programs of Hermes here are not there, and in a
// container only what is never written is refused.
func TestFilesElsewhereAreJudgedByTheHomeThere(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "bin")
	for _, tt := range []struct {
		path                     string
		here, elsewhere, contain string
	}{
		{"~/.bashrc", "ask", "ask", ""},
		{filepath.Join(bin, "ls"), "ask", "", ""},
		{".git/hooks/pre-commit", "never", "never", "never"},
		{"~/.ssh/authorized_keys", "never", "never", "never"},
		{"main.go", "", "", ""},
	} {
		for name, want := range map[string]string{"here": tt.here, "elsewhere": tt.elsewhere, "container": tt.contain} {
			w := newWorldWith(t, file.Config{Path: []string{bin}})
			w.env.here = name == "here"
			if name == "container" {
				w.env.layer = name
			}
			arguments, err := json.Marshal(args{"path": tt.path, "content": "x"})
			must(t, err)
			risks := w.tool("write_file").(hermes.RiskAssessor).AssessRisk(t.Context(), &hermes.Call{Name: "write_file", Arguments: arguments, Host: host{env: w.env}})
			got := ""
			for _, r := range risks {
				if got = "ask"; r.Deny {
					got = "never"
				}
			}
			if got != want {
				t.Errorf("%s %s: %q, want %q: %v", name, tt.path, got, want, risks)
			}
		}
	}
	w := newWorld(t)
	own := filepath.Join(w.home, ".hermes", "config.yaml")
	w.refused("write_file", args{"path": own, "content": "x"}, "Hermes")
	w = newWorldWith(t, file.Config{})
	w.env.here, w.env.home = false, "/home/agent"
	w.ok("write_file", args{"path": filepath.Join(w.home, "state-of-here"), "content": "x"})
}

// TestInstructionsAreNotLookedForInVain: each look at a file elsewhere is a script there.
func TestInstructionsAreNotLookedForInVain(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, file.Config{})
	w.env.here = false
	w.put("main.go", "package main\n")
	w.env.looked = func(path string) {
		if name := filepath.Base(path); name != "main.go" {
			t.Errorf("looked at %s", path)
		}
	}
	r := hermes.Result{Text: "{}"}
	w.set.Hook().AfterTool(t.Context(), w.call("read_file", args{"path": "main.go"}), &r)
}
