package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"hermes/internal/atomicfile"
)

func TestWriteReplacesAndKeepsTheMode(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		old  os.FileMode // 0: no file yet
		o    atomicfile.Options
		want os.FileMode
	}{
		{"new", 0, atomicfile.Options{}, 0o600},
		{"new with a mode", 0, atomicfile.Options{Mode: 0o644}, 0o644},
		{"old mode is kept", 0o640, atomicfile.Options{}, 0o640},
		{"read-only is kept", 0o400, atomicfile.Options{}, 0o400},
		{"forced", 0o644, atomicfile.Options{Mode: 0o600, Force: true}, 0o600},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "f")
			if tt.old != 0 {
				must(t, os.WriteFile(path, []byte("old and longer"), 0o600))
				must(t, os.Chmod(path, tt.old))
			}
			must(t, atomicfile.Write(path, []byte("new"), tt.o))
			got, err := os.ReadFile(path)
			must(t, err)
			info, err := os.Stat(path)
			must(t, err)
			if string(got) != "new" || info.Mode().Perm() != tt.want && runtime.GOOS != "windows" {
				t.Errorf("got %q with mode %o, want mode %o", got, info.Mode().Perm(), tt.want)
			}
			onlyFile(t, path)
		})
	}
}

func TestWriteRefusesSurprises(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	real, link := filepath.Join(folder, "real"), filepath.Join(folder, "link")
	must(t, os.WriteFile(real, []byte("old"), 0o600))
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here")
	}
	if err := atomicfile.Write(link, []byte("x"), atomicfile.Options{}); !errors.Is(err, atomicfile.ErrLink) {
		t.Errorf("link: got %v", err)
	}
	if err := atomicfile.Write(folder, nil, atomicfile.Options{}); !errors.Is(err, atomicfile.ErrKind) {
		t.Errorf("folder: got %v", err)
	}
	must(t, atomicfile.Write(link, []byte("new"), atomicfile.Options{Follow: true}))
	got, _ := os.ReadFile(real)
	info, err := os.Lstat(link)
	must(t, err)
	if string(got) != "new" || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("followed: got %q, link %v", got, info.Mode())
	}
	must(t, os.Remove(real))
	if err := atomicfile.Write(link, nil, atomicfile.Options{Follow: true}); err == nil || !strings.Contains(err.Error(), "has no target") {
		t.Errorf("broken link: got %v", err)
	}
}

func TestAFailedWriteLeavesTheOldContent(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 || runtime.GOOS == "windows" {
		// A superuser may write everywhere, so take a folder that is not there.
		err := atomicfile.Write(filepath.Join(t.TempDir(), "no", "f"), nil, atomicfile.Options{})
		if err == nil || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("got %v", err)
		}
		return
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	must(t, os.WriteFile(path, []byte("old"), 0o600))
	must(t, os.Chmod(folder, 0o500))
	err := atomicfile.Write(path, []byte("new"), atomicfile.Options{})
	must(t, os.Chmod(folder, 0o700))
	got, _ := os.ReadFile(path)
	if err == nil || string(got) != "old" {
		t.Errorf("got %v, content %q", err, got)
	}
	onlyFile(t, path)
}

func TestReadersNeverSeeAPart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	contents := []string{strings.Repeat("a", 9000), strings.Repeat("b", 5)}
	must(t, atomicfile.Write(path, []byte(contents[0]), atomicfile.Options{}))
	var writers sync.WaitGroup
	for _, content := range contents {
		writers.Go(func() {
			for range 20 {
				if err := atomicfile.Write(path, []byte(content), atomicfile.Options{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != contents[0] && string(got) != contents[1] {
			t.Errorf("read %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
	onlyFile(t, path)
}

// onlyFile fails if a temporary file was left beside path.
func onlyFile(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestCopyInReplacesWhatACrashLeftUnderItsTemporaryName, and a content that fails changes nothing.
func TestCopyInReplacesWhatACrashLeftUnderItsTemporaryName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "left"), []byte("half"), 0o600))
	folder, err := os.OpenRoot(dir)
	must(t, err)
	defer folder.Close()
	failed := errors.New("no more")
	for _, want := range []string{"old", "new"} {
		err := atomicfile.CopyIn(folder, "f", func(w io.Writer) error {
			if _, err := io.WriteString(w, "new"); err != nil || want == "new" {
				return err
			}
			return failed
		}, atomicfile.Options{Temp: "left"})
		if (want == "old") != errors.Is(err, failed) {
			t.Errorf("got %v", err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "left")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the temporary file is there: %v", err)
		}
	}
}
