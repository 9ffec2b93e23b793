package mount_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// system are the folders that programs need.
func system(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, path := range []string{"/usr", "/etc", "/bin", "/sbin", "/lib", "/lib64"} {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// folder returns a new folder that others may enter, with links followed.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// files makes files below dir: a name that ends in a slash is a folder.
func files(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("real "+filepath.Base(name)+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tree lists what is below dir, so that what changed can be seen.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil {
			all = append(all, d.Type().String()+" "+path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
