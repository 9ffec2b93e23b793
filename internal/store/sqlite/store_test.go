package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

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

func TestWaitingMessagesSurviveTheStore(t *testing.T) {
	t.Parallel()
	cfg := sqlite.Config{Path: filepath.Join(t.TempDir(), "hermes.db")}
	s := mustOpen(t, cfg)
	mustCreate(t, s, "a")
	l := hermes.Lease{Session: "a"}
	id, err := s.AddWaiting(t.Context(), l, hermes.WaitingMessage{Message: hermes.UserText("hi"), Urgent: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, cfg)
	got, err := s.WaitingMessages(t.Context(), "a")
	want := []hermes.WaitingMessage{{ID: id, Message: hermes.UserText("hi"), Urgent: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.Commit(t.Context(), l, hermes.Change{TakeWaiting: []int64{id}}); err != nil {
		t.Error(err)
	}
}
