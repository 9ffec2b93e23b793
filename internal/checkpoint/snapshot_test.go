package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"hermes/internal/checkpoint"
)

func TestSnapshotSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{FileSize: 100})
	d.write(map[string]string{
		".gitignore": "*.o\nbuild/\n", "a.go": "package a\n", "a.o": "object", "build/out": "x", "build/more": "y",
		"big.bin": strings.Repeat("x", 101), ".git/HEAD": "ref", "sub/.hg/x": "y", "sub/b.o": "object", ".env": "KEY=secret",
	})
	s := d.snapshot()
	var got []string
	for _, o := range s.LeftOut {
		got = append(got, fmt.Sprint(o.Why, " ", o.Count, " ", strings.Join(o.First, ",")))
	}
	want := []string{"data of version control 2 .git,sub/.hg", "ignored by .gitignore 3 a.o,build,sub/b.o", "too large 1 big.bin"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if s.Files != 3 {
		t.Errorf("got %d files, want 3", s.Files)
	}
	if runtime.GOOS == "windows" {
		return
	}
	must(t, filepath.WalkDir(d.at, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("others may read %s: %v", path, info.Mode())
		}
		return err
	}))
}

func TestIncludedPathsAreKeptAlthoughTheyAreIgnored(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{".gitignore": ".env\nmodules/\n", ".env": "KEY=1", "modules/a/x": "one", "modules/b/x": "two"})
	s, _, err := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{Include: []string{".env", "modules/a/x"}})
	must(t, err)
	if s.Files != 3 {
		t.Errorf("got %d files, want .gitignore, .env and modules/a/x", s.Files)
	}
	before := d.dump()
	d.agent(func() {
		d.write(map[string]string{".env": "broken", "modules/a/x": "broken"})
	}, ".env", "modules/a/x")
	d.restore(s, checkpoint.RestoreOptions{})
	same(t, "restored", d.dump(), before)
}

func TestOneSnapshotPerTurnAndOnlyIfSomethingChanged(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"a": "1", ".gitignore": "*.o\n"})
	take := func(turn string) (checkpoint.Snapshot, bool) {
		s, made, err := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{Session: "s", Turn: turn}, checkpoint.SnapshotOptions{})
		must(t, err)
		return s, made
	}
	first, made := take("1")
	if !made || first.Number != 1 {
		t.Fatalf("got %v, made %v", first, made)
	}
	d.write(map[string]string{"a": "2"})
	if again, made := take("1"); made || again.ID != first.ID {
		t.Errorf("the same turn: got %s, made %v", again.ID, made)
	}
	second, made := take("2")
	if !made || second.Parent != first.ID {
		t.Errorf("the next turn: got %v, made %v", second, made)
	}
	d.write(map[string]string{"ignored.o": "x"})
	if third, made := take("3"); made || third.ID != second.ID {
		t.Errorf("nothing changed: got %v, made %v", third, made)
	}
	for name, change := range map[string]func() error{
		"mode":   func() error { return os.Chmod(d.path("a"), 0o755) },
		"link":   func() error { return os.Symlink("a", d.path("l")) },
		"folder": func() error { return os.Mkdir(d.path("d"), 0o755) },
		"size":   func() error { return os.WriteFile(d.path("a"), []byte("3"), 0) },
	} {
		must(t, change())
		if _, made := take(name); !made {
			t.Errorf("a changed %s was not noticed", name)
		}
	}
}

// TestAChangeWithTheOldTimeAndSizeIsNoticed shows that the cache does not trust times that are
// near that of the scan.
func TestAChangeWithTheOldTimeAndSizeIsNoticed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	old := time.Now().Add(-time.Hour)
	for i := range 20 {
		d.write(map[string]string{"a": fmt.Sprint("content ", i%10)})
		must(t, os.Chtimes(d.path("a"), old, old))
		s := d.snapshot()
		if i == 0 {
			continue
		}
		changes, err := d.store.Diff(t.Context(), d.dir, fmt.Sprint(s.Number-1), s.ID, nil)
		must(t, err)
		if len(changes) != 1 {
			t.Fatalf("snapshot %d has not the change of the file: %v", i, changes)
		}
	}
}

func TestRefusedFoldersSayWhy(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{Files: 5})
	home := filepath.Dir(d.dir)
	store := checkpoint.New(checkpoint.Config{Folder: d.at, Home: home, Limits: checkpoint.Limits{Files: 5}})
	d.write(map[string]string{"1": "", "2": "", "3": "", "4": "", "5": "", "6": "", ".gitignore": "ignored"})
	must(t, os.MkdirAll(filepath.Join(d.at, "x"), 0o700))
	for dir, want := range map[string]string{
		"/": "top of the file system", home: "home folder", filepath.Dir(home): "home folder", d.dir: "more than 5", filepath.Join(d.at, "x"): "folder of the checkpoints",
	} {
		_, _, err := store.Snapshot(t.Context(), dir, checkpoint.Meta{}, checkpoint.SnapshotOptions{})
		if !errors.Is(err, checkpoint.ErrRefused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
}

func TestLinksAreKeptAndNeverFollowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	outside := filepath.Join(filepath.Dir(d.dir), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o644))
	must(t, os.Symlink(outside, d.path("out")))
	must(t, os.Symlink("nowhere", d.path("broken")))
	d.write(map[string]string{"dir/f": "f"})
	s := d.snapshot()
	if s.Files != 1 {
		t.Errorf("got %d files, want 1", s.Files)
	}
	before := d.dump()
	d.agent(func() {
		must(t, os.Remove(d.path("out")))
		must(t, os.RemoveAll(d.path("dir")))
		must(t, os.Symlink(outside, d.path("dir")))
	})
	d.restore(s, checkpoint.RestoreOptions{})
	same(t, "restored", d.dump(), before)
	// A link that is in place of a folder of the snapshot is the user's and not followed.
	must(t, os.RemoveAll(d.path("dir")))
	must(t, os.Symlink(outside, d.path("dir")))
	d.restore(s, checkpoint.RestoreOptions{Paths: []string{"dir/f"}, All: true})
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("the restore wrote through the link: %v, %v", entries, err)
	}
}

func TestASnapshotNamedByHandIsFound(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	s, _, err := d.store.Snapshot(t.Context(), d.dir, checkpoint.Meta{Name: "before the rewrite"}, checkpoint.SnapshotOptions{})
	must(t, err)
	for _, ref := range []string{s.ID, s.ID[:6], "1", "before the rewrite"} {
		if p, err := d.store.Plan(t.Context(), d.dir, ref, checkpoint.RestoreOptions{}); err != nil || p.Snapshot.ID != s.ID {
			t.Errorf("%q: got %v, %v", ref, p.Snapshot.ID, err)
		}
	}
	for _, ref := range []string{"", "2", "c", "nothing"} {
		if _, err := d.store.Plan(t.Context(), d.dir, ref, checkpoint.RestoreOptions{}); !errors.Is(err, checkpoint.ErrUnknown) {
			t.Errorf("%q: got %v", ref, err)
		}
	}
}

func TestDiffShowsTexts(t *testing.T) {
	t.Parallel()
	d := newDesk(t, checkpoint.Limits{})
	d.write(map[string]string{"a.txt": "one\ntwo\n", "gone": "bye\n", "b.bin": "\x00\x01"})
	s := d.snapshot()
	d.write(map[string]string{"a.txt": "one\nTWO\n", "new/f": "hello\n", "b.bin": "\x00\x02"})
	must(t, os.Remove(d.path("gone")))
	changes, err := d.store.Diff(t.Context(), d.dir, s.ID, "", nil)
	must(t, err)
	var got strings.Builder
	for _, c := range changes {
		got.WriteString(c.Text)
	}
	for _, want := range []string{"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n", "--- a/gone\n+++ /dev/null\n", "-bye", "--- /dev/null\n+++ b/new/f\n", "+hello", "b.bin: file of 2 bytes"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("%q is not in:\n%s", want, got.String())
		}
	}
	if few, err := d.store.Diff(t.Context(), d.dir, s.ID, "", []string{"new"}); err != nil || len(few) != 2 {
		t.Errorf("below one folder: %v, %v", few, err)
	}
}
