package gitguard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestAFileInAFolderThatWasThereBeforeIsFound although the folder around that, which is
// remembered, did not change.
func TestAFileInAFolderThatWasThereBeforeIsFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "src/.cargo"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	for rel, f := range before.Found.folders {
		f.stamp.settled = true
		before.Found.folders[rel] = f
	}
	if err := os.WriteFile(filepath.Join(dir, "src/.cargo/config.toml"), []byte("evil"), 0o600); err != nil {
		t.Fatal(err)
	}
	now, err := before.Again()
	if err != nil {
		t.Fatal(err)
	}
	if got := now.Compare(before); len(got) != 1 || got[0].Event != Added {
		t.Errorf("%d changes", len(got))
	}
}

// TestNewFoldersBeyondTheBoundAreReported, and those that were there are not.
func TestNewFoldersBeyondTheBoundAreReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWatch(dir)
	if w == nil {
		t.Skip("folders are not watched here")
	}
	w.most = 20
	make := func(name string) {
		for i := range 30 {
			if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(name, i)), 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	make("user")
	before, err := take(dir, Snapshot{watch: w}, true)
	if err != nil || len(before.states) != 0 {
		t.Fatalf("%v, %v", before.states, err)
	}
	defer before.Close()
	make("new")
	now, err := before.Again()
	if err != nil {
		t.Fatal(err)
	}
	if got := now.Compare(before); len(got) != 1 || got[0].Class != Unseen || Restore(got[0]) == nil {
		t.Errorf("%d changes", len(got))
	}
}

// TestWithoutTheKernelFoldersAreLookedAt, when no watching is possible any more.
func TestWithoutTheKernelFoldersAreLookedAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, "a/b/c/d/e/f/g")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := User{}.Watch(dir)
	if err != nil {
		t.Fatal(err)
	}
	if before.watch == nil {
		t.Skip("folders are not watched here")
	}
	before.Close()
	if err := os.MkdirAll(filepath.Join(deep, "h/.vscode"), 0o700); err != nil {
		t.Fatal(err)
	}
	now, err := before.Again()
	if err != nil {
		t.Fatal(err)
	}
	if got := now.Compare(before); len(got) != 1 || now.watch.notify != nil {
		t.Errorf("%d changes", len(got))
	}
}

// TestARootThatIsReplacedIsLookedAt, also if the new one has the number of the old one.
func TestARootThatIsReplacedIsLookedAt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, err := User{}.Watch(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	for round := range 3 {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "a/b/.vscode"), 0o700); err != nil {
			t.Fatal(err)
		}
		now, err := before.Again()
		if err != nil {
			t.Fatal(err)
		}
		if got := now.Compare(before); len(got) != 1 {
			t.Errorf("round %d: %d changes", round, len(got))
		}
	}
}
