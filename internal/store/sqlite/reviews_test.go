package sqlite_test

import (
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

func TestReviewsArePendingUntilTheyAreDone(t *testing.T) {
	t.Parallel()
	cfg := sqlite.Config{Path: tempPath(t)}
	s := mustOpen(t, cfg)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ctx := t.Context()
	for _, id := range []string{"a", "b"} {
		if err := s.CreateSession(ctx, hermes.Session{ID: id, Started: now}); err != nil {
			t.Fatal(err)
		}
	}
	take := func(except string, at time.Time) string {
		t.Helper()
		pending, err := s.HasPendingReview(ctx, except, at)
		if err != nil {
			t.Fatal(err)
		}
		id, turn, err := s.ClaimReview(ctx, except, at)
		if err != nil || pending != (id != "") || (id == "") != (turn == 0) {
			t.Fatalf("pending %v, claimed %q up to %d, %v", pending, id, turn, err)
		}
		return id
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := take("", now); got != "" {
		t.Errorf("%q is pending from the beginning", got)
	}
	must(s.AddPendingReview(ctx, "a", 7, now))
	if got := take("", now.Add(time.Minute)); got != "" {
		t.Errorf("%q was started twice", got)
	}
	if err := s.Close(); err != nil { // the process dies
		t.Fatal(err)
	}
	s = mustOpen(t, cfg)
	later := now.Add(time.Hour)
	if got := take("a", later); got != "" {
		t.Errorf("%q is the session itself", got)
	}
	if got := take("", later); got != "a" {
		t.Errorf("claimed %q, want a", got)
	}
	must(s.ReleaseReview(ctx, "a"))
	if got := take("", later); got != "a" {
		t.Errorf("claimed %q, want a, which was released", got)
	}
	if got := take("", later.Add(time.Hour)); got != "" {
		t.Errorf("%q is tried forever", got)
	}
	must(s.AddPendingReview(ctx, "a", 9, later)) // it went on, and ended again
	must(s.MarkReviewed(ctx, "a", 8))
	if got := take("", later.Add(time.Hour)); got != "a" {
		t.Errorf("claimed %q, want a: turn 9 is still pending", got)
	}
	must(s.MarkReviewed(ctx, "a", 9))
	must(s.MarkReviewed(ctx, "a", 3))
	turn, err := s.Reviewed(ctx, "a")
	if got := take("", later.Add(5*time.Hour)); got != "" || turn != 9 || err != nil {
		t.Errorf("claimed %q, reviewed up to %d, %v", got, turn, err)
	}
	if turn, err = s.Reviewed(ctx, "b"); turn != 0 || err != nil {
		t.Errorf("reviewed up to %d, %v", turn, err)
	}
	must(s.AddPendingReview(ctx, "b", 1, now))
	must(s.DeleteSession(ctx, "b"))
	if got := take("", later.Add(9*time.Hour)); got != "" {
		t.Errorf("%q is pending but deleted", got)
	}
}
