package app

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"hermes/internal/home"
	"hermes/internal/liveness"
	"hermes/internal/store/sqlite"
)

// TestLocksOfEndedProcessesAreRemovedInAnyHome: also where the name of its folder looks like
// a pattern. Those of living ones stay.
func TestLocksOfEndedProcessesAreRemovedInAnyHome(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("a lock cannot be left there without its process")
	}
	for _, name := range []string{"plain", "me [work]", "a*b?", "[", `a\b`} {
		h := home.At(filepath.Join(t.TempDir(), name))
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: h.Database()})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := tidyOwners(t.Context(), h, store); err != nil { // before the first lock
			t.Errorf("%s: %v", name, err)
		}
		if err := os.MkdirAll(h.Join("run"), 0o700); err != nil {
			t.Fatal(err)
		}
		living, gone := h.Join("run", "00000000000000aa.lock"), h.Join("run", "00000000000000bb.lock")
		held, err := liveness.Hold(living)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Release()
		of, err := os.ReadFile(living)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(gone, of, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := tidyOwners(t.Context(), h, store); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(gone); !os.IsNotExist(err) {
			t.Errorf("%s: the lock of a process that has ended: %v", name, err)
		}
		if _, err := os.Stat(living); err != nil {
			t.Errorf("%s: the lock of a living process: %v", name, err)
		}
	}
}
