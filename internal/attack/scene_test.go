package attack

import (
	"os"
	"path/filepath"
	"testing"

	"hermes/internal/app"
)

// TestASceneThatCannotBeMadeIsAnErrorAndLeavesNothing: its settings cannot be copied.
func TestASceneThatCannotBeMadeIsAnErrorAndLeavesNothing(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	if err := os.Mkdir(filepath.Join(home, "permissions.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	o := app.Options{Home: home, Getenv: func(string) string { return "" }}
	live := app.New(o)
	defer live.Close()
	if _, err := newScene(t.Context(), live, o); err == nil {
		t.Error("no error")
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
