package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"hermes/internal/atomicfile"
)

func mustReal(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

func TestOpenFolderFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := mustReal(t)
	must(t, os.MkdirAll(filepath.Join(dir, "real", "sub"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here")
	}
	for path, want := range map[string]error{
		"real/sub": nil, "real": nil, ".": nil, "link": atomicfile.ErrLink, "link/sub": atomicfile.ErrLink, "real/none": fs.ErrNotExist, "link/none": atomicfile.ErrLink,
	} {
		folder, err := atomicfile.OpenFolder(filepath.Join(dir, path), false)
		if !errors.Is(err, want) || (folder == nil) != (want != nil) {
			t.Errorf("%s: error %v, want %v", path, err, want)
		}
		if folder != nil {
			folder.Close()
		}
	}
	for _, path := range []string{filepath.Join(dir, "file"), filepath.Join(dir, "file", "x"), "relative"} {
		if _, err := atomicfile.OpenFolder(path, true); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
	made, err := atomicfile.OpenFolder(filepath.Join(dir, "new", "er"), true)
	must(t, err)
	defer made.Close()
	if _, err := atomicfile.OpenFolder(filepath.Join(dir, "link", "new"), true); !errors.Is(err, atomicfile.ErrLink) {
		t.Errorf("a folder below a link: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "real", "new")); err == nil {
		t.Error("a folder was made behind a link")
	}
}

// TestAnOpenFolderStays: what is written goes to the folder that was opened, also
// if its path leads elsewhere by then.
func TestAnOpenFolderStays(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be renamed there")
	}
	dir := mustReal(t)
	for _, name := range []string{"a", "outside"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name, "f"), []byte(name), 0o600))
	}
	folder, err := atomicfile.OpenFolder(filepath.Join(dir, "a"), false)
	must(t, err)
	defer folder.Close()
	must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	must(t, os.Symlink("outside", filepath.Join(dir, "a")))
	must(t, atomicfile.WriteIn(folder, "f", []byte("new"), atomicfile.Options{}))
	for name, want := range map[string]string{"b": "new", "outside": "outside"} {
		if got, err := os.ReadFile(filepath.Join(dir, name, "f")); err != nil || string(got) != want {
			t.Errorf("%s/f holds %q, error %v, want %q", name, got, err, want)
		}
	}
	onlyFile(t, filepath.Join(dir, "b", "f"))
}

// TestSwapsWhileWritingNeverLeadOut: whenever a folder becomes a link, nothing is
// written behind it.
func TestSwapsWhileWritingNeverLeadOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open folder cannot be renamed there")
	}
	dir := mustReal(t)
	inside, outside, aside, link := filepath.Join(dir, "a"), filepath.Join(dir, "outside"), filepath.Join(dir, "aside"), filepath.Join(dir, "link")
	for _, name := range []string{inside, outside} {
		must(t, os.MkdirAll(filepath.Join(name, "sub"), 0o700))
	}
	must(t, os.Symlink("outside", link))
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			select {
			case <-stop:
				return
			default: // each of these may fail where the other has just been
				os.Rename(inside, aside)
				os.Rename(link, inside)
				os.Rename(inside, link)
				os.Rename(aside, inside)
			}
		}
	})
	for i := range 3000 {
		folder, err := atomicfile.OpenFolder(filepath.Join(inside, "sub", "new"), true)
		if err != nil {
			continue
		}
		if i%30 == 0 { // it waits for the disk
			atomicfile.WriteIn(folder, "f", []byte("x"), atomicfile.Options{})
		}
		folder.Close()
		os.Remove(filepath.Join(aside, "sub", "new"))
	}
	close(stop)
	swapping.Wait()
	entries, err := os.ReadDir(filepath.Join(outside, "sub"))
	if err != nil || len(entries) > 0 {
		t.Errorf("behind the link: %v, error %v", entries, err)
	}
}

func TestWriteInRefusesSurprises(t *testing.T) {
	t.Parallel()
	dir := mustReal(t)
	folder, err := atomicfile.OpenFolder(dir, false)
	must(t, err)
	defer folder.Close()
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "real"), []byte("old"), 0o600))
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here")
	}
	if err := atomicfile.WriteIn(folder, "link", []byte("x"), atomicfile.Options{Follow: true}); !errors.Is(err, atomicfile.ErrLink) {
		t.Errorf("link: %v", err)
	}
	if err := atomicfile.WriteIn(folder, "folder", nil, atomicfile.Options{}); !errors.Is(err, atomicfile.ErrKind) {
		t.Errorf("folder: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "real")); string(got) != "old" {
		t.Errorf("written through a link: %q", got)
	}
	onlyFile(t, filepath.Join(dir, "real"))
}

// TestNewFilesObeyTheUmask: a new file has the mode that any program would give it.
func TestNewFilesObeyTheUmask(t *testing.T) {
	t.Parallel()
	dir := mustReal(t)
	f, err := os.OpenFile(filepath.Join(dir, "reference"), os.O_CREATE|os.O_WRONLY, 0o666)
	must(t, err)
	must(t, f.Close())
	want, err := os.Stat(f.Name())
	must(t, err)
	path := filepath.Join(dir, "new")
	must(t, atomicfile.Write(path, nil, atomicfile.Options{Mode: 0o666, Umask: true}))
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, error %v, want %v", got.Mode(), err, want.Mode())
	}
}
