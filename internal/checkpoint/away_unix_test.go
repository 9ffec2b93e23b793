//go:build unix

package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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

// TestAPlaceLeavesOutWhatThisMachineLeavesOut compares the snapshots of one folder.
func TestAPlaceLeavesOutWhatThisMachineLeavesOut(t *testing.T) {
	limits := checkpoint.Limits{FileSize: 2000}
	inEveryShell(t, limits, func(t *testing.T, d *desk, sh *shell) {
		top := filepath.Dir(d.dir)
		d.write(map[string]string{
			"../.git/HEAD": "x", "../.git/info/exclude": "by-exclude\n", "../.gitignore": "*.above\n/project/rooted\n",
			".gitignore": "*.log\nbuild/\n!keep.log\nnode_modules\n", "a.txt": "a", "x.log": "x", "keep.log": "k", "x.above": "x", "rooted": "r", "by-exclude": "e",
			"build/out": "o", "build/sub/named.txt": "n", "node_modules/m/.gitignore": "*\n", "node_modules/m/i.js": "m",
			"sub/.gitignore": "only-here\n/sub2/*.tmp\n", "sub/only-here": "1", "only-here": "1", "sub/sub2/x.tmp": "1", "sub/sub2/y": "1", "sub/.git/config": "x",
			"large.txt": strings.Repeat("large", 1000), "small.bin": "\x00\x01",
		})
		must(t, syscall.Mkfifo(d.path("pipe"), 0o600))
		must(t, os.Symlink("/etc", d.path("away")))
		must(t, os.Mkdir(d.path("empty"), 0o750))
		include := checkpoint.SnapshotOptions{Include: []string{"build/sub/named.txt"}, Always: true}
		here := checkpoint.New(checkpoint.Config{Folder: filepath.Join(top, "local"), Limits: limits})
		want, _, err := here.Snapshot(t.Context(), d.dir, checkpoint.Meta{}, include)
		must(t, err)
		got, _, err := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{}, include)
		must(t, err)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(checkpoint.Snapshot{}, "ID", "Time")); diff != "" {
			t.Errorf("this machine, the place:\n%s", diff)
		}
		must(t, filepath.WalkDir(sh.kept(t), func(path string, e os.DirEntry, err error) error {
			if info, err := e.Info(); err == nil && info.Mode().Perm() != 0o600 && info.Mode().Perm() != 0o700 {
				t.Errorf("%s has the rights %v", path, info.Mode())
			}
			return err
		}))
	})
}

// TestAPlaceRefusesWhatIsTooMuch: the top, the home folder as such, what is above it, and too many files.
func TestAPlaceRefusesWhatIsTooMuch(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{Files: 3}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"})
		for dir, want := range map[string]string{"/": "top of the file system", sh.home: "home folder", filepath.Dir(sh.home): "home folder", d.dir: "more than 3"} {
			_, _, err := d.store.Snapshot(t.Context(), dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{})
			if !errors.Is(err, checkpoint.ErrRefused) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", dir, err)
			}
		}
		d.write(map[string]string{".gitignore": "[bcd]\n"}) // ignored ones do not count
		d.snapshot()
	})
}

// TestAnotherMachineFindsTheCheckpointsAndTakesOver: the place has all that is needed, a machine that
// works there keeps others out, and one that fell silent changes nothing any more.
func TestAnotherMachineFindsTheCheckpointsAndTakesOver(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{"a": "one\n"})
		s := d.snapshot()
		d.agent(func() { d.write(map[string]string{"a": "two\n", "b": "new\n"}) })
		owner := filepath.Join(sh.kept(t), "owner")
		text, err := os.ReadFile(owner)
		must(t, err)
		words := strings.Fields(string(text))
		since, err := strconv.ParseInt(words[2], 10, 64)
		must(t, err)
		must(t, os.WriteFile(owner, fmt.Appendf(nil, "%s %s %d\n", words[0], words[1], since-60), 0o600))
		other := checkpoint.New(checkpoint.Config{Folder: filepath.Join(filepath.Dir(d.dir), "other"), Place: sh})
		p, err := other.Plan(t.Context(), d.dir, s.ID, checkpoint.RestoreOptions{})
		must(t, err)
		stolen := false
		sh.ran = func(script string) { // a third one takes over while the restore is about to begin
			if !stolen && strings.Contains(script, "# Does the steps of a restore") {
				stolen = true
				must(t, os.WriteFile(owner, []byte("third 1 1\n"), 0o600))
			}
		}
		if _, err := other.Restore(t.Context(), p, checkpoint.Meta{}); err == nil || !strings.Contains(err.Error(), "another program began") {
			t.Errorf("it went on: %v", err)
		}
		if d.read("a") != "two\n" {
			t.Error("it changed a file")
		}
		sh.ran = nil
		if diff, err := other.Diff(t.Context(), d.dir, s.ID, "", nil); err != nil || len(diff) > 0 { // the third is silent; this finishes the restore
			t.Fatal(diff, err)
		}
		if _, err := os.Stat(d.path("b")); d.read("a") != "one\n" || err == nil {
			t.Errorf("a is %q, b: %v", d.read("a"), err)
		}
		noLeftovers(t, sh.home)
	})
}

// TestAPlaceIsListedAgainAsItIs: what is known of the last listing is not taken for the tree as it is, when rules
// changed, when files changed that were likely to, and when a snapshot and an account are one step.
func TestAPlaceIsListedAgainAsItIs(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{".gitignore": "build/\n", "a": "one\n", "build/out": "o\n", "link-target": "x\n"})
		must(t, os.Symlink("..", d.path("up")))
		d.snapshot()
		d.write(map[string]string{"a": "one, by the user\n"})
		step := func(turn string, paths []string, change func()) checkpoint.Snapshot {
			t.Helper()
			g, err := d.store.Prepare(t.Context(), d.dir, checkpoint.Meta{Session: "s", Turn: turn}, "test", paths)
			must(t, err)
			change()
			must(t, g.Done(t.Context()))
			w, err := d.store.List(d.dir)
			must(t, err)
			return w.Snapshots[len(w.Snapshots)-1]
		}
		s := step("1", []string{"a"}, func() { d.write(map[string]string{"a": "two\n"}) })
		again := step("1", []string{"a", "b", "up/home/.profile"}, func() { d.write(map[string]string{"a": "three\n", "b": "b\n", "../home/.profile": "x\n"}) })
		if s.ID != again.ID {
			t.Errorf("two snapshots of one turn: %v, %v", s.Number, again.Number)
		}
		d.write(map[string]string{"a": "three, by the user\n", ".gitignore": "\n"}) // after it was noted as likely
		s2 := step("2", nil, func() { must(t, os.Remove(d.path("build/out"))) })
		if s2.Files != 5 {
			t.Errorf("the second one has %d files, without what was ignored", s2.Files)
		}
		d.restore(s2, checkpoint.RestoreOptions{})
		if d.read("build/out") != "o\n" || d.read("a") != "three, by the user\n" {
			t.Errorf("%q", d.read("a"))
		}
		p := d.plan(s, checkpoint.RestoreOptions{Paths: []string{"a", "b"}})
		if len(p.Conflicts) != 1 || p.Conflicts[0].Path != "a" || len(p.Steps) != 1 || p.Steps[0].Path != "b" {
			t.Errorf("steps %+v, conflicts %+v", p.Steps, p.Conflicts)
		}
		noLeftovers(t, sh.home)
	})
}

// TestAPlaceThatWasReplacedHasNoCheckpointsOfTheOneBefore: a session may get another container, with the
// same files. What is known of the first is not taken for the second.
func TestAPlaceThatWasReplacedHasNoCheckpointsOfTheOneBefore(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{"a": "one\n", "b": "same\n"})
		for _, name := range []string{"a", "b"} {
			must(t, os.Chtimes(d.path(name), time.Time{}, time.Now().Add(-time.Hour)))
		}
		s := d.snapshot()
		d.agent(func() { d.write(map[string]string{"a": "two\n"}) })
		must(t, os.RemoveAll(filepath.Join(sh.home, ".hermes")))
		w, err := d.store.List(d.dir)
		if err != nil || len(w.Snapshots) > 0 {
			t.Errorf("it lists %+v, %v", w.Snapshots, err)
		}
		if all, err := d.store.Workspaces(); err != nil || len(all) > 0 {
			t.Errorf("all are %+v, %v", all, err)
		}
		if p, err := d.store.Plan(t.Context(), d.dir, s.ID, checkpoint.RestoreOptions{}); err == nil {
			t.Errorf("it plans %+v", p.Steps)
		}
		s = d.snapshot()
		d.agent(func() { d.write(map[string]string{"a": "three\n", "b": "changed\n"}) })
		d.restore(s, checkpoint.RestoreOptions{})
		if d.read("a") != "two\n" || d.read("b") != "same\n" {
			t.Errorf("%q, %q", d.read("a"), d.read("b"))
		}
		noLeftovers(t, sh.home)
	})
}

// TestARestoreInAPlaceWritesNothingBehindALinkThatJustCame: a file becomes a link to a folder after it was
// looked at.
func TestARestoreInAPlaceWritesNothingBehindALinkThatJustCame(t *testing.T) {
	t.Parallel()
	words := shells(t)["dash"]
	if words == nil {
		t.Skip("no dash")
	}
	chmod, err := exec.LookPath("chmod")
	must(t, err)
	top := t.TempDir()
	outside, tools, now := filepath.Join(top, "outside"), filepath.Join(top, "tools"), filepath.Join(top, "now")
	must(t, os.Mkdir(outside, 0o700))
	must(t, os.Mkdir(tools, 0o700))
	text := "#!/bin/sh\ncase $2 in ./.hermes-restore*) [ -e " + now + " ] && rm -f a && ln -s " + outside + " a ;; esac\nexec " + chmod + " \"$@\"\n"
	must(t, os.WriteFile(filepath.Join(tools, "chmod"), []byte(text), 0o700))
	d, sh := newAwayDesk(t, append([]string{"/usr/bin/env", "PATH=" + tools + ":" + os.Getenv("PATH")}, words...), checkpoint.Limits{})
	d.write(map[string]string{"a": "one\n"})
	s := d.snapshot()
	d.agent(func() { d.write(map[string]string{"a": "two\n"}) })
	p := d.plan(s, checkpoint.RestoreOptions{})
	must(t, os.WriteFile(now, nil, 0o600))
	_, err = d.store.Restore(t.Context(), p, checkpoint.Meta{})
	must(t, err)
	if got, err := os.ReadDir(outside); err != nil || len(got) > 0 {
		t.Errorf("outside has %v, %v", got, err)
	}
	noLeftovers(t, sh.home)
}

// TestADamagedContentOfAPlaceIsReported: other files are restored.
func TestADamagedContentOfAPlaceIsReported(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{"a": "good\n", "b": "damaged\n", "bin": "\x00binary", "late": "late\n"})
		s := d.snapshot()
		d.agent(func() { d.write(map[string]string{"a": "A", "b": "B", "bin": "C", "late": "L"}) })
		damage := func(name, text string) {
			found, _ := filepath.Glob(filepath.Join(sh.kept(t), "contents/*/*/"+name))
			for _, f := range found {
				if data, err := os.ReadFile(f); err == nil && string(data) == text {
					must(t, os.WriteFile(f, []byte(strings.Repeat("x", len(data))), 0o600))
				}
			}
		}
		damage("b", "damaged\n")
		damage("bin", "\x00binary")
		p := d.plan(s, checkpoint.RestoreOptions{})
		if len(p.Conflicts) != 2 || !strings.Contains(p.Conflicts[0].Why, "damaged") {
			t.Errorf("conflicts: %+v", p.Conflicts)
		}
		damage("late", "late\n") // after it was shown
		r, err := d.store.Restore(t.Context(), p, checkpoint.Meta{})
		must(t, err)
		if len(r.Failed) != 1 || !strings.Contains(r.Failed[0].Why, "damaged") || d.read("late") != "L" {
			t.Errorf("failed: %+v, late is %q", r.Failed, d.read("late"))
		}
		if d.read("a") != "good\n" || d.read("b") != "B" || d.read("bin") != "C" {
			t.Errorf("%q %q %q", d.read("a"), d.read("b"), d.read("bin"))
		}
	})
}

// TestPruneInAPlaceKeepsTheLimits: of the number, and of the size; what goes frees its space there.
func TestPruneInAPlaceKeepsTheLimits(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{Snapshots: 3, TotalSize: 400 << 10}, func(t *testing.T, d *desk, sh *shell) {
		for i := range 5 {
			d.write(map[string]string{"big": strings.Repeat(fmt.Sprint(i), 90<<10), "same": "same"})
			d.snapshot()
		}
		_, err := d.store.Prune(t.Context())
		must(t, err)
		w, err := d.store.List(d.dir)
		must(t, err)
		if len(w.Snapshots) == 0 || len(w.Snapshots) > 3 || w.Size > 450<<10 {
			t.Errorf("%d snapshots of %d bytes", len(w.Snapshots), w.Size)
		}
		last := w.Snapshots[len(w.Snapshots)-1]
		must(t, os.Remove(d.path("big")))
		d.restore(last, checkpoint.RestoreOptions{All: true})
		if d.read("big") != strings.Repeat("4", 90<<10) {
			t.Error("a content that was needed is gone")
		}
		noLeftovers(t, sh.home)
	})
}

// TestAContentThatAnIndexListsStaysInThePlace: a prune that cannot write an index removes nothing that it lists.
func TestAContentThatAnIndexListsStaysInThePlace(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{Snapshots: 2}, func(t *testing.T, d *desk, sh *shell) {
		for i := range 3 { // the index of the first has one content that the others need, and one that they do not
			d.write(map[string]string{"a": fmt.Sprint("content ", i), "same": "same"})
			d.snapshot()
		}
		found, err := filepath.Glob(filepath.Join(d.at, "*", "contents", "*.index"))
		must(t, err)
		for i, index := range found { // a link is not replaced
			to := filepath.Join(filepath.Dir(d.at), fmt.Sprint("index", i))
			must(t, os.Rename(index, to))
			must(t, os.Symlink(to, index))
		}
		if _, err := d.store.Prune(t.Context()); err == nil {
			t.Fatal("the indexes were written")
		}
		d.write(map[string]string{"a": "content 0"}) // the place has it, says the index
		again := d.snapshot()
		d.write(map[string]string{"a": "content 4"})
		d.restore(again, checkpoint.RestoreOptions{All: true})
		if got := d.read("a"); got != "content 0" {
			t.Errorf("restored: %q", got)
		}
	})
}

func TestWhatAFailedStepRemovedInAPlaceDoesNotCountAsTheUsers(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		whatIsGone(t, d, func() {
			found, err := filepath.Glob(filepath.Join(sh.kept(t), "contents/*/*/*"))
			must(t, err)
			for _, f := range found {
				data, err := os.ReadFile(f)
				must(t, err)
				if i := strings.Index(string(data), "ot text"); i > 0 {
					data[i-1] ^= 1
				}
				must(t, os.WriteFile(f, data, 0o600))
			}
		})
	})
}

// TestPruneLeavesOutWhatAnotherMachineWorksOn and says so, without an error.
func TestPruneLeavesOutWhatAnotherMachineWorksOn(t *testing.T) {
	inEveryShell(t, checkpoint.Limits{}, func(t *testing.T, d *desk, sh *shell) {
		d.write(map[string]string{"a": "one\n"})
		d.snapshot()
		must(t, os.WriteFile(filepath.Join(sh.kept(t), "owner"), fmt.Appendf(nil, "other other %d\n", time.Now().Unix()), 0o600))
		p, err := d.store.Prune(t.Context())
		if err != nil || len(p.Busy) != 1 || p.Snapshots != 0 {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
