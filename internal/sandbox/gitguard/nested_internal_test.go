package gitguard

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hermes/internal/sandbox/gitguard/gitindex"
)

// TestAnIndexThatDidNotChangeIsNotReadAgain, once it was left alone for a while.
func TestAnIndexThatDidNotChangeIsNotReadAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("times of change are not known here")
	}
	dir := t.TempDir()
	at := filepath.Join(dir, "index")
	if err := os.WriteFile(at, []byte("not an index"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	now, _ := readIndex(r, dir, at, nil)
	if now.unknown == nil || now.stamp.settled {
		t.Fatalf("%+v", now)
	}
	remembered := now
	remembered.unknown, remembered.Listing = nil, gitindex.Listing{Links: []string{"remembered"}}
	for settled, want := range map[bool]int{false: 0, true: 1} {
		remembered.stamp.settled = settled
		if got, _ := readIndex(r, dir, at, map[string]index{at: remembered}); len(got.Links) != want {
			t.Errorf("settled is %v: %+v", settled, got)
		}
	}
	if err := os.WriteFile(at, []byte("not an index, again"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, _ := readIndex(r, dir, at, map[string]index{at: remembered}); got.unknown == nil {
		t.Errorf("it changed: %+v", got)
	}
}
