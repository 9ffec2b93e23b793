package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/command"
	"hermes/internal/learning"
)

func TestLearningsAreShownAndChanged(t *testing.T) {
	t.Parallel()
	store := &hermestest.Learnings{}
	folder := t.TempDir()
	file := learning.New(learning.Config{
		Open:    func(context.Context) (hermes.Learnings, error) { return store, nil },
		Pending: func() (string, error) { return folder, nil },
	})
	has := func(line, want string) {
		t.Helper()
		r, err := command.Run(t.Context(), line, command.Call{Where: command.Messenger, Learnings: file})
		if err != nil || !strings.Contains(r.Text, want) {
			t.Errorf("%s: got %q, %v, want %q", line, r.Text, err, want)
		}
	}
	has("/learning", "No learnings yet")
	for _, l := range []hermes.Learning{
		{Tool: "terminal", Class: "error", Pattern: "pip: error: <path> is managed", Fix: "use uv", Context: "Debian", Touched: time.Now()},
		{Tool: "terminal", Class: "error", Pattern: "make: no rule", Fix: "cd src", Touched: time.Now()},
	} {
		if _, err := store.SaveLearning(t.Context(), l); err != nil {
			t.Fatal(err)
		}
	}
	has("/learning", `- 1: pip: error: \<path> is managed → use uv`)
	has("/learning search RULE", "- 2: make")
	has("/learning search snake", "No learnings match")
	has("/learning show 1", "- context: Debian")
	has("/learning merge", "Nothing to merge or retire")
	has("/learning merge 1 #2", "Merged into 1")
	has("/learning delete 1", "hermes undo")
	has("/learning", "No learnings yet")
	has("/learning pending", "No pending changes of learning")
	id, err := file.Propose(t.Context(), hermes.Learning{Class: "error", Pattern: "make: *** no rule", Fix: "cd src"})
	if err != nil {
		t.Fatal(err)
	}
	has("/learning pending", id)
	has("/learning approve "+id, "Saved")
	has("/learning reject all", "No pending changes of learning")
	for _, bad := range []string{"/learning show", "/learning show x", "/learning show 9", "/learning delete", "/learning merge 1", "/learning search", "/learning forget"} {
		if r, err := command.Run(t.Context(), bad, command.Call{Where: command.Terminal, Learnings: file}); err == nil {
			t.Errorf("%s was taken: %s", bad, r.Text)
		}
	}
	if _, err := command.Run(t.Context(), "/learning", command.Call{Where: command.Terminal}); err == nil {
		t.Error("a frontend without learnings showed some")
	}
}
