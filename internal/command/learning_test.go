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

// approving saves pending learnings as they are.
type approving struct{ *learning.Store }

func (b approving) Approve(ctx context.Context, id string) (saved hermes.Learning, replaced string, err error) {
	p, err := b.Proposal(id)
	if err != nil {
		return saved, "", err
	}
	if saved, err = b.Save(ctx, "person", p.Learning); err == nil {
		err = b.Reject(id)
	}
	return saved, "", err
}

func TestLearningsAreShownAndChanged(t *testing.T) {
	t.Parallel()
	store := &hermestest.Learnings{}
	folder := t.TempDir()
	file := approving{learning.New(learning.Config{
		Open:    func(context.Context) (hermes.Learnings, error) { return store, nil },
		Pending: func() (string, error) { return folder, nil },
	})}
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
	p, err := file.Propose(t.Context(), hermes.Learning{Class: "error", Pattern: "make: *** no rule", Fix: "cd src"})
	if err != nil {
		t.Fatal(err)
	}
	has("/learning pending", p.ID)
	has("/learning approve "+p.ID, "Saved")
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
