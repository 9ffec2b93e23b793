package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/command"
)

// rollable is a session in whose last turn a file was changed, and what commands need for it.
func rollable(t *testing.T) (*fakeSession, command.Call) {
	t.Helper()
	dir := t.TempDir()
	f := newFake(nil)
	f.dir = dir
	f.transcript = []hermes.Message{
		hermes.UserText("hello"), {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "hi"}}},
		hermes.UserText("please fix a.go \x1b[2J now"), {Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "done"}}},
	}
	for i := range f.transcript {
		f.transcript[i].ID = int64(i + 1)
	}
	store := checkpoint.New(checkpoint.Config{
		Folder: filepath.Join(t.TempDir(), "checkpoints"), Now: func() time.Time { return time.Date(2026, 11, 28, 9, 30, 0, 0, time.Local) },
	})
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", "old\n")
	write("c.go", "old\n")
	snap := checkpoint.Meta{Session: f.ID(), Turn: "2.3", Reason: "before patch a.go", At: []byte(`{"message":3}`)}
	if _, _, err := store.Snapshot(t.Context(), dir, snap, checkpoint.SnapshotOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := store.Begin(t.Context(), dir, "patch", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.go", "b\x1b[31m.go", "c.go"} {
		write(name, "new\n")
	}
	if err := w.Done(t.Context()); err != nil {
		t.Fatal(err)
	}
	write("c.go", "mine\n")
	write("mine.go", "mine\n")
	return f, command.Call{Checkpoints: store}
}

// TestRollbackScreens are what a user sees: the list, and what will happen, then the question.
func TestRollbackScreens(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 40} {
		f, call := rollable(t)
		call.Session, call.Where = f, command.Terminal
		r := openRig(t, width, 40)
		for _, line := range []string{"/rollback", "/rollback 1"} {
			out, err := command.Run(t.Context(), line, call)
			if err != nil {
				t.Fatal(err)
			}
			r.send(done(hermes.CommandDone{Line: line, Text: out.Text, Confirm: out.Confirm, ConfirmLine: out.ConfirmLine}))
		}
		golden(t, fmt.Sprintf("rollback.%d.golden", width), r.v.text())
		out, _ := command.Run(t.Context(), "/rollback 1", call)
		r.keys("y<enter>").wantDo(commandDo{out.ConfirmLine})
	}
}

// TestRollbackLineByLine shows what will happen, asks, and does it only after a yes.
func TestRollbackLineByLine(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{"n": "new\n", "y": "old\n"} {
		f, call := rollable(t)
		got := lineChatWith(t, f, call, "/rollback 1\n"+answer+"\n", "")
		for _, shown := range []string{"`a.go` becomes what it was", "`b<U+001B>[31m.go` is removed", "`c.go`: you and the agent changed it", "“please fix a.go", "Restore 2 paths and remove 2 messages from the conversation? [y/N]"} {
			if !strings.Contains(got, shown) {
				t.Errorf("%q is not shown:\n%s", shown, got)
			}
		}
		if strings.Contains(got, "\x1b[2J") || strings.Contains(got, "\x1b[31m") {
			t.Errorf("an escape sequence reached the terminal: %q", got)
		}
		if data, err := os.ReadFile(filepath.Join(f.dir, "a.go")); err != nil || string(data) != want {
			t.Errorf("%s: a.go is %q, %v", answer, data, err)
		}
		if rolled := len(f.rolled) == 1 && f.rolled[0] == 3; rolled != (answer == "y") {
			t.Errorf("%s: rolled back from %v", answer, f.rolled)
		}
	}
}
