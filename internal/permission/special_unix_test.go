//go:build unix

package permission_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"hermes"
	"hermes/internal/permission"
)

// TestFileThatIsNoFileAllowsNothing has what would be read for ever.
func TestFileThatIsNoFileAllowsNothing(t *testing.T) {
	t.Parallel()
	for name, place := range map[string]func(path string) error{
		"a pipe":                   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a link to an endless one": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a folder":                 func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		_, path := at(t, "")
		if err := place(path); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			f := permission.New(path, nil, nil)
			covers := f.Covers(hermes.Grant{Tool: "terminal", Key: "k"})
			err := f.Add(t.Context(), hermes.Grant{Tool: "terminal", Key: "k"})
			if covers {
				err = nil
			}
			done <- err
		}()
		select {
		case err := <-done:
			if err == nil {
				t.Errorf("%s: it allows something, or was replaced", name)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it is read for ever", name)
		}
	}
}

// TestLinkedFileStaysALink has the file of a user who keeps it elsewhere.
func TestLinkedFileStaysALink(t *testing.T) {
	t.Parallel()
	f, path := at(t, "")
	elsewhere := t.TempDir() + "/mine.yaml"
	if err := os.WriteFile(elsewhere, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(t.Context(), build); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 || !f.Covers(build) {
		t.Errorf("mode %v, err %v, covers %v", info.Mode(), err, f.Covers(build))
	}
}
