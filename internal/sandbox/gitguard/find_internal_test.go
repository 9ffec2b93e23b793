package gitguard

import (
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
