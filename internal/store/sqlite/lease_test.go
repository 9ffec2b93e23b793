package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

func TestLeaseOfAnOwnerThatEndedIsTakenOver(t *testing.T) {
	t.Parallel()
	s, err := sqlite.Open(t.Context(), sqlite.Config{
		Path: filepath.Join(t.TempDir(), "a.db"), OwnerGone: func(owner string) bool { return owner == "gone" },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "s", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	old, err := s.Acquire(t.Context(), "s", hermes.Owner{Name: "gone", Address: "/gone.sock"}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.Leases(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("an owner that ended has %+v, %v", list, err)
	}
	if owners, err := s.LeaseOwners(t.Context()); err != nil || !slices.Equal(owners, []string{"gone"}) {
		t.Errorf("the owners of leases that have not expired are %q, %v", owners, err)
	}
	now, err := s.Acquire(t.Context(), "s", hermes.Owner{Name: "here"}, time.Hour)
	if err != nil || now.Fence <= old.Fence || now.Replaced != (hermes.Owner{Name: "gone", Address: "/gone.sock"}) {
		t.Fatalf("lease %+v, %v", now, err)
	}
	if list, err := s.Leases(t.Context()); err != nil || len(list) != 1 || list[0].Owner != "here" {
		t.Errorf("the leases are %+v, %v", list, err)
	}
	if _, err := s.Acquire(t.Context(), "s", hermes.Owner{Name: "other"}, time.Hour); !errors.Is(err, hermes.ErrLeased) {
		t.Errorf("the lease of a living owner: %v", err)
	}
}

// TestADeletedSessionLeavesNoQuestion: its rows are gone from the file, not only from lists.
func TestADeletedSessionLeavesNoQuestion(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "s", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	q := hermes.StoredQuestion{Asked: hermes.Asked{ID: "1.1", Question: &hermes.Question{Text: "Which?"}}}
	if err := s.SaveQuestion(t.Context(), hermes.Lease{Session: "s"}, q); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := raw(t, path).QueryRow(`SELECT count(*) FROM questions`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d questions stay, %v", n, err)
	}
}
