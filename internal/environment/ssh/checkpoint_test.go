package ssh_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/checkpointtest"
	"hermes/internal/environment/remote"
)

// homed is a place with another home folder than the user has.
type homed struct {
	*remote.Environment
	home string
}

func (h homed) Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	return h.Environment.Script(ctx, "HOME='"+h.home+"'\n"+text, stdin, stdout, stderr)
}

// TestCheckpointsUndoRandomChangesOverSSH, of tools and commands, with edits of the user in between.
func TestCheckpointsUndoRandomChangesOverSSH(t *testing.T) {
	t.Parallel()
	env := mustEnvironment(t, config(t, newServer(t), false)).(*remote.Environment)
	t.Cleanup(func() {
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	})
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, "mirror"), Place: homed{env, filepath.Join(base, "home")}})
	for _, dir := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	checkpointtest.In(env, env.Files().Write, store, filepath.Join(base, "project")).UndoesRandomChanges(t, 1)
}
