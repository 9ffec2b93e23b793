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
