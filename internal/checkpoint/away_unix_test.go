//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"hermes/internal/checkpoint"
)

// shell is a place on this machine: a shell with a home of its own.
type shell struct {
	words []string
	home  string
	ran   func(script string) // before each script, if set
}

func (s *shell) Script(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (int, error) {
	if s.ran != nil {
		s.ran(text)
	}
	file := filepath.Join(s.home, ".script-"+filepath.Base(s.home))
	f, err := os.CreateTemp(s.home, filepath.Base(file))
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	c := exec.CommandContext(ctx, s.words[0], append(s.words[1:], f.Name())...)
	c.Dir, c.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home}
	c.Stdin, c.Stdout, c.Stderr = stdin, stdout, stderr
	err = c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return exit.ExitCode(), nil
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return 0, err
}

// shells are those that scripts must work with. busybox has its own tools, too.
func shells(t testing.TB) map[string][]string {
	out := map[string][]string{}
	for name, words := range map[string][]string{"dash": {"dash"}, "bash": {"bash"}, "busybox": {"busybox", "sh"}} {
		path, err := exec.LookPath(words[0])
		switch {
		case err == nil:
			out[name] = append([]string{path}, words[1:]...)
		case os.Getenv("CI") == "true":
			t.Fatal(err)
		}
	}
	return out
}

// newAwayDesk is a desk whose folder is in a place. For busybox, the tools are its own.
func newAwayDesk(t testing.TB, words []string, limits checkpoint.Limits) (*desk, *shell) {
	t.Helper()
	d := newDesk(t, limits)
	sh := &shell{words: words, home: filepath.Join(filepath.Dir(d.dir), "home")}
	must(t, os.Mkdir(sh.home, 0o755))
	d.at = filepath.Join(filepath.Dir(d.dir), "mirror")
	d.store = checkpoint.New(checkpoint.Config{Folder: d.at, Limits: limits, Place: sh})
	return d, sh
}

// inEveryShell runs a test with a folder in a place of each shell.
func inEveryShell(t *testing.T, limits checkpoint.Limits, test func(t *testing.T, d *desk, sh *shell)) {
	t.Parallel()
	for name, words := range shells(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, sh := newAwayDesk(t, words, limits)
			test(t, d, sh)
		})
	}
}

// kept returns the folder of the only workspace in the place.
func (s *shell) kept(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(s.home, ".hermes/checkpoints/w-*"))
	must(t, err)
	if len(found) != 1 {
		t.Fatalf("workspaces: %q", found)
	}
	return found[0]
}

// TestUndoneChangesInAPlaceGiveTheFirstStateWithTheUsersEdits is the test of random changes for
// each shell, with what such a place keeps in order at the end.
func TestUndoneChangesInAPlaceGiveTheFirstStateWithTheUsersEdits(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		undoesRandomChanges(t, d, len(sh.words))
		noLeftovers(t, sh.home)
	})
}
