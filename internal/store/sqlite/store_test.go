package sqlite_test

import (
	"path/filepath"
	"testing"

	"hermes/internal/store"
	"hermes/internal/store/sqlite"
	"hermes/internal/storetest"
)

func TestStoreKeepsThePromises(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, at string) store.Database {
		return mustOpen(t, sqlite.Config{Path: filepath.Join(at, "hermes.db")})
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
