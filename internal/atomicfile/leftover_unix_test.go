//go:build unix

package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"hermes/internal/atomicfile"
)

// leftovers makes files as killed writers leave them, two hours old.
func leftovers(t *testing.T, dir string, names ...string) {
	t.Helper()
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, e := range entries {
		all[e.Name()] = true
	}
	return all
}

// TestLeftoversOfKilledWritersAreRemoved: those of the same file by the next write, all of a
// folder by Sweep; never those that may still be written, or that only look like one.
func TestLeftoversOfKilledWritersAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	leftovers(t, dir, ".notes.ABCDEFGHIJKL.tmp", ".notes.MNOPQRSTUVWX.tmp", ".other.ABCDEFGHIJKL.tmp", ".notes.22222222222Z.tmp",
		"notes.ABCDEFGHIJKL.tmp", ".notes.abcdefghijkl.tmp", ".notes.ABC.tmp", ".notes.tmp")
	young := filepath.Join(dir, ".notes.YYYYYYYYYYYY.tmp")
	if err := os.WriteFile(young, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	written, err := os.OpenFile(filepath.Join(dir, ".notes.22222222222Z.tmp"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close()
	if err := syscall.Flock(int(written.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, ".notes.tmp"), filepath.Join(dir, ".notes.LLLLLLLLLLLL.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "notes"), []byte("new"), atomicfile.Options{}); err != nil {
		t.Fatal(err)
	}
	stay := []string{"notes", ".notes.22222222222Z.tmp", "notes.ABCDEFGHIJKL.tmp", ".notes.abcdefghijkl.tmp", ".notes.ABC.tmp", ".notes.tmp", ".notes.YYYYYYYYYYYY.tmp", ".notes.LLLLLLLLLLLL.tmp"}
	check := func(more ...string) {
		t.Helper()
		got := names(t, dir)
		for _, name := range append(more, stay...) {
			if !got[name] {
				t.Errorf("%s was removed", name)
			}
			delete(got, name)
		}
		if len(got) > 0 {
			t.Errorf("not removed: %v", got)
		}
	}
	check(".other.ABCDEFGHIJKL.tmp")
	if n, err := atomicfile.Sweep(dir); err != nil || n != 1 {
		t.Errorf("%d, %v", n, err)
	}
	check()
	if n, err := atomicfile.Sweep(filepath.Join(dir, "none")); err != nil || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
}
