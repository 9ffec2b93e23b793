package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatIsNotForOthersIsListed also below folders, for root, who may read all.
func TestWhatIsNotForOthersIsListed(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no modes")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"app/secret.conf": 0o600, "app/open.conf": 0o644, "app/sub/key": 0o640, "closed/x": 0o644, "x": 0o644, "y": 0o600} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "closed"), 0o750); err != nil {
		t.Fatal(err)
	}
	want := []string{"app/secret.conf", "app/sub/key", "closed", "y"}
	if diff := cmp.Diff(want, listed(t, dir, 8, 100)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"app/secret.conf", "closed", "y"}, listed(t, dir, 2, 100)); diff != "" {
		t.Error(diff)
	}
	for i := range 20 {
		if err := os.WriteFile(filepath.Join(dir, "app/sub", fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"app/secret.conf", "app/sub", "closed", "y"}, listed(t, dir, 8, 10)); diff != "" {
		t.Error("beyond the bound:", diff)
	}
}

func listed(t *testing.T, dir string, depth, left int) []string {
	t.Helper()
	var out []string
	for _, at := range sorted(notForOthers(dir, depth, &left)) {
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rel)
	}
	return out
}
