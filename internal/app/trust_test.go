package app_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"hermes/internal/app"
	"hermes/internal/trust"
)

// TestProjectFollowsFilesAndDecisions asks one app from several goroutines, while another
// process decides and the files change.
func TestProjectFollowsFilesAndDecisions(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	a, other := app.New(app.Options{Home: home}), app.New(app.Options{Home: home})
	path := filepath.Join(dir, ".mcp.json")
	ask := func(want trust.State) (p trust.Project) {
		t.Helper()
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if _, d, err := a.Project(dir); err != nil || d.State != want {
					t.Errorf("got %q, want %q: %v", d.State, want, err)
				}
			})
		}
		group.Wait()
		p, _, _ = other.Project(dir)
		return p
	}
	ask(trust.Unknown)
	for _, content := range []string{"{}", "[]"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		p := ask(trust.Unknown)
		store, err := other.Trust()
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Set(t.Context(), p, trust.Trusted, "user"); err != nil {
			t.Fatal(err)
		}
		ask(trust.Trusted)
	}
	if err := os.WriteFile(filepath.Join(home, "trust.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, d, err := a.Project(dir); err == nil || d.State == trust.Trusted {
		t.Errorf("a broken store: %q, %v", d.State, err)
	}
}
