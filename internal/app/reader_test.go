package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/app"
)

// TestAnUnreadableDatabaseIsExplainedOnce, although it is tried twice.
func TestAnUnreadableDatabaseIsExplainedOnce(t *testing.T) {
	t.Parallel()
	open := func(home string) error {
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		defer a.Close()
		_, err := a.Reader(t.Context())
		return err
	}
	home := t.TempDir()
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	if _, err := a.Reader(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(home, "hermes.db-wal") // a log that neither can be written nor read
	_ = os.Remove(log)
	if err := os.MkdirAll(filepath.Join(log, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := open(home)
	if err == nil || strings.Count(err.Error(), filepath.Join(home, "hermes.db")) > 2 || strings.Contains(err.Error(), "\n") {
		t.Errorf("a log that cannot be read: %v", err)
	}
}
