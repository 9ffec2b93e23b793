package sqlite_test

import (
	"errors"
	"path/filepath"
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
	old, err := s.Acquire(t.Context(), "s", "gone", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	now, err := s.Acquire(t.Context(), "s", "here", time.Hour)
	if err != nil || now.Fence <= old.Fence {
		t.Fatalf("lease %+v, %v", now, err)
	}
	if _, err := s.Acquire(t.Context(), "s", "other", time.Hour); !errors.Is(err, hermes.ErrLeased) {
		t.Errorf("the lease of a living owner: %v", err)
	}
}
