package sqlite_test

import (
	"path/filepath"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/store/sqlite"
)

func TestStoreKeepsThePromises(t *testing.T) {
	t.Parallel()
	hermestest.RunStore(t, func(t *testing.T) hermes.Store {
		return mustOpen(t, sqlite.Config{Path: filepath.Join(t.TempDir(), "hermes.db")})
	})
}

// mustOpen opens a store; the caller or the end of the test closes it.
func mustOpen(t testing.TB, cfg sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
