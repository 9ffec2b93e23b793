package command_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/command"
	"hermes/internal/memory"
)

// remembering is a memory on the disk whose switch is not written anywhere.
type remembering struct{ *memory.File }

func (m remembering) SetApproval(_ context.Context, on bool) error {
	m.File.SetApproval(on)
	return nil
}

func TestMemoryIsShownAndDecidedOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := remembering{memory.NewFile(memory.Config{Dir: filepath.Join(dir, "memories"), Pending: filepath.Join(dir, "pending")})}
	run := func(line string) (string, error) {
		r, err := command.Run(t.Context(), line, command.Call{Where: command.Terminal, Memory: m})
		return r.Text, err
	}
	has := func(line, want string) {
		t.Helper()
		if got, err := run(line); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, %v, want %q", line, got, err, want)
		}
	}
	propose := func(text string) string {
		t.Helper()
		p, err := m.Propose(t.Context(), memory.Notes, []memory.Operation{{Action: "add", Content: text}}, memory.Origin{By: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		return p.ID
	}
	has("/memory", "**memory** [0% — 0/2,200 chars]")
	has("/memory approval on", "need your approval")
	first, second := propose("likes tea"), propose("likes milk")
	has("/memory", "2 pending changes: `/memory pending`")
	has("/memory pending", "add to memory: likes tea")
	has("/memory approve "+first, "Saved `"+first+"` to memory")
	has("/memory reject all", "Rejected `"+second+"`.")
	has("/memory", "- likes tea")
	has("/memory pending", "No pending changes of memory.")
	has("/memory approval off", "saved without asking")
	for _, bad := range []string{"/memory approve", "/memory approve nope", "/memory forget", "/memory approval perhaps"} {
		if _, err := run(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	if _, err := command.Run(t.Context(), "/memory", command.Call{Where: command.Terminal}); err == nil {
		t.Error("a frontend without memory showed one")
	}
}
