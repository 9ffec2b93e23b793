package ssh_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"hermes"
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
	s := checkpointtest.Site{
		Store: checkpoint.New(checkpoint.Config{Folder: filepath.Join(base, "mirror"), Place: homed{env, filepath.Join(base, "home")}}),
		Dir:   filepath.Join(base, "project"),
		Run: func(t testing.TB, line string) []byte {
			t.Helper()
			var out, errs bytes.Buffer
			exit, err := env.Exec(t.Context(), hermes.Command{Line: line, Stdout: &out, Stderr: &errs})
			if err != nil || exit.Code != 0 {
				t.Fatalf("%.300s: %v, exit %d: %s", line, err, exit.Code, errs.String())
			}
			return out.Bytes()
		},
		Write: func(t testing.TB, path string, data []byte) {
			t.Helper()
			if err := env.Files().Write(t.Context(), path, data, 0o640); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, dir := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.UndoesRandomChanges(t, 1)
}
