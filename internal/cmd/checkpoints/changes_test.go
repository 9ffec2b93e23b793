package checkpoints_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/checkpoint"
	"hermes/internal/cmd/checkpoints"
	"hermes/internal/cmd/factory"
)

// work is a home with two sessions, of which the newer one had a child, in a folder that all of
// them changed.
type work struct {
	t         *testing.T
	home, dir string
}

func newWork(t *testing.T) work {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	db, err := a.Database(t.Context())
	must(t, err)
	for _, s := range []hermes.Session{
		{ID: "old", Title: "The old one", Dir: dir, Started: time.Unix(1, 0)}, {ID: "new", Dir: dir, Started: time.Unix(2, 0)},
		{ID: "child", Platform: "subagent", Parent: "new", Dir: dir, Started: time.Unix(3, 0)},
		{ID: "far", Dir: dir, Started: time.Unix(1, 0), Run: hermes.StoredRun{Workspace: hermes.Workspace{Dir: dir, Backend: "docker"}}}, // a folder of the same name there
	} {
		must(t, db.CreateSession(t.Context(), s))
	}
	l, err := db.Acquire(t.Context(), "new", hermes.Owner{Name: "test"}, time.Minute)
	must(t, err)
	did, err := db.Commit(t.Context(), l, hermes.Change{Append: []hermes.Message{hermes.UserText("make \x1b[2J it\nwork")}})
	must(t, err)
	must(t, db.Release(t.Context(), l))
	s, err := a.Checkpoints()
	must(t, err)
	w := work{t, home, dir}
	w.write("first.txt", "1\n")
	for _, m := range []checkpoint.Meta{{Session: "old"}, {Session: "child"}, {Session: "new", At: fmt.Appendf(nil, `{"message":%d}`, did.IDs[0])}} {
		m.Reason = "before " + m.Session
		_, _, err = s.Snapshot(t.Context(), dir, m, checkpoint.SnapshotOptions{Always: true})
		must(t, err)
		w.write(m.Session+"\x1b[31m.txt", m.Session+" \x1b]0;title\a\n")
	}
	must(t, os.Remove(filepath.Join(dir, "first.txt")))
	return w
}

func (w work) write(name, text string) {
	w.t.Helper()
	must(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600))
}

func (w work) run(of func(*factory.Factory) *cobra.Command, args ...string) (string, error) {
	w.t.Helper()
	var out bytes.Buffer
	f := factory.New(app.Options{Home: w.home, Getenv: func(string) string { return "" }}, factory.IO{})
	defer f.Close()
	cmd := of(f)
	cmd.SetArgs(args)
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(w.t.Context())
	if strings.Contains(out.String(), "\x1b") {
		w.t.Errorf("%v: an escape sequence reached the terminal: %q", args, out.String())
	}
	return out.String(), err
}

// TestDiffOfASession is since its first checkpoint, also that of a child, and by default that of
// the newest session.
func TestDiffOfASession(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	tests := []struct {
		args       []string
		has, hides []string
	}{
		{[]string{"-C", w.dir}, []string{"+child ", "+new ", "-1\n"}, []string{"+old "}},
		{[]string{"session", "-C", w.dir, "first.txt"}, []string{"-1\n"}, []string{"+new "}},
		{[]string{"--session", "old", "-C", w.dir, "--stat"}, []string{"3 lines added, 1 line removed", "removed  first.txt", "added    old"}, []string{"+old ", "@@"}},
		{[]string{"--session", "The old one"}, []string{"+old ", "+child ", "+new "}, nil}, // in the session's folder
		{[]string{"--session", "new"}, []string{"+child "}, []string{"+old "}},
	}
	for _, tt := range tests {
		out, err := w.run(checkpoints.NewDiffCmd, tt.args...)
		if err != nil {
			t.Errorf("%q: %v", tt.args, err)
		}
		for _, s := range tt.has {
			if !strings.Contains(out, s) {
				t.Errorf("%q has no %q:\n%s", tt.args, s, out)
			}
		}
		for _, s := range tt.hides {
			if strings.Contains(out, s) {
				t.Errorf("%q has %q:\n%s", tt.args, s, out)
			}
		}
	}
	out, err := w.run(checkpoints.NewDiffCmd, "-C", w.dir, "--json")
	var got struct {
		Folder, Session string
		Since           checkpoint.Snapshot
		Changes         []checkpoint.Change
	}
	if err != nil || json.Unmarshal([]byte(out), &got) != nil || got.Folder != w.dir || got.Session != "new" || got.Since.Number != 2 || len(got.Changes) != 3 {
		t.Errorf("--json: %v, %+v", err, got)
	}
	if out, err := w.run(checkpoints.NewDiffCmd, "--session", "far"); err == nil || !strings.Contains(err.Error(), "works in docker") {
		t.Errorf("of a session elsewhere: %v, %s", err, out)
	}
	for _, args := range [][]string{{"--session", "nope"}, {"-C", t.TempDir()}, {"-C", w.dir, "../x"}, {"staged", "--json", "-C", w.dir}, {"all", "-C", w.dir}} {
		if out, err := w.run(checkpoints.NewDiffCmd, args...); err == nil {
			t.Errorf("%q: %s", args, out)
		}
	}
}

// TestDiffOfGit shows what is staged, or all since the last commit.
func TestDiffOfGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	w := newWork(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir = w.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v, %s", args, err, out)
		}
	}
	git("init", "-q")
	w.write("a.txt", "old\n")
	git("add", ".")
	git("commit", "-qm", "x")
	w.write("a.txt", "staged\n")
	git("add", ".")
	w.write("b.txt", "made\n")
	if out, err := w.run(checkpoints.NewDiffCmd, "staged", "-C", w.dir); err != nil || !strings.Contains(out, "+staged") {
		t.Errorf("staged: %v, %s", err, out)
	}
	if out, err := w.run(checkpoints.NewDiffCmd, "all", "--stat", "-C", w.dir); err != nil || !strings.Contains(out, "1 file changed") || !strings.Contains(out, "new file, not staged: b.txt") {
		t.Errorf("all: %v, %s", err, out)
	}
}

// TestListAsATreeHasSessionsAndMessages in the order in which one follows the other.
func TestListAsATreeHasSessionsAndMessages(t *testing.T) {
	t.Parallel()
	w := newWork(t)
	if _, err := w.run(checkpoints.NewCmd, "restore", "1", "-C", w.dir, "--all", "--yes"); err != nil {
		t.Fatal(err)
	}
	out, err := w.run(checkpoints.NewCmd, "list", "--tree", "-C", w.dir)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out, "\n")
	for i, want := range []string{"", "1 *", "2  ", "3  ", "4  "} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	if !strings.Contains(lines[3], "  new  ") || !strings.Contains(lines[3], "make ") || !strings.Contains(lines[3], "before new") {
		t.Errorf("line 3 is %q", lines[3])
	}
}
