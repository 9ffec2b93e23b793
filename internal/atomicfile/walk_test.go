package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestAFolderThatBecomesALinkIsNotEntered: between looking at a name and opening it
// another process may have put a link there.
func TestAFolderThatBecomesALinkIsNotEntered(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be renamed there")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "outside"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w := walk{at: dir}
	if w.folder, err = os.OpenRoot(dir); err != nil {
		t.Fatal(err)
	}
	defer w.close()
	path := filepath.Join(dir, "a")
	info, err := w.look(path, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(path, path+".old"), os.Symlink("outside", path)); err != nil {
		t.Fatal(err)
	}
	if err := w.arrive(path, "a", info); !errors.Is(err, ErrLink) {
		t.Errorf("error %v, want ErrLink", err)
	}
}

// TestATemporaryFileIsForTheOwnerOnly until it has the rights of the file that it
// replaces.
func TestATemporaryFileIsForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	old, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Mode: 0o666}, {Mode: 0o666, Force: true}} {
		f, err := temporary(folder, "f", old, o)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		f.Close()
		if err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
			t.Errorf("%+v: %v, %v", o, info.Mode(), err)
		}
	}
}

// TestAFailedWriteLeavesNoTemporaryFile has a folder under the name of the file.
func TestAFailedWriteLeavesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "f"), 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := replace(folder, "f", whole([]byte("x")), nil, Options{}); err == nil {
		t.Error("a folder was replaced")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
