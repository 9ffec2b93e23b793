//go:build unix

package checkpointtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/checkpoint"
	"hermes/internal/checkpoint/checkpointtest"
)

// shell is a place that is a shell of this machine with a home of its own.
type shell struct{ home string }

func (s shell) Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	c := exec.CommandContext(ctx, "sh")
	c.Dir, c.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), stdout, stderr
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// TestCheckpointsUndoRandomChangesOnThisMachine is the test that other places run.
func TestCheckpointsUndoRandomChangesOnThisMachine(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		undo(t, seed, func(base string) checkpoint.Config {
			return checkpoint.Config{Folder: filepath.Join(base, "checkpoints")}
		})
	}
}

// TestCheckpointsUndoRandomChangesWithScripts is the same with a store that works with scripts.
func TestCheckpointsUndoRandomChangesWithScripts(t *testing.T) {
	t.Parallel()
	for seed := range 3 {
		undo(t, seed, func(base string) checkpoint.Config {
			if err := os.Mkdir(filepath.Join(base, "home"), 0o755); err != nil {
				t.Fatal(err)
			}
			return checkpoint.Config{Folder: filepath.Join(base, "mirror"), Place: shell{filepath.Join(base, "home")}}
		})
	}
}

func undo(t *testing.T, seed int, config func(base string) checkpoint.Config) {
	t.Run(fmt.Sprint(seed), func(t *testing.T) {
		t.Parallel()
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s := checkpointtest.Site{
			Store: checkpoint.New(config(base)),
			Dir:   filepath.Join(base, "project"),
			Run: func(t testing.TB, line string) []byte {
				t.Helper()
				var errs bytes.Buffer
				c := exec.CommandContext(t.Context(), "sh", "-c", line)
				c.Stderr = &errs
				out, err := c.Output()
				if err != nil {
					t.Fatalf("%.300s: %v: %s", line, err, errs.String())
				}
				return out
			},
			Write: func(t testing.TB, path string, data []byte) {
				t.Helper()
				if err := os.WriteFile(path, data, 0o640); err != nil {
					t.Fatal(err)
				}
			},
		}
		if err := os.Mkdir(s.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s.UndoesRandomChanges(t, uint64(seed))
	})
}
