// Package storetest is the contract suite of a database engine: all of
// [store.Database], with the suites of hermestest for the views of the core.
package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/storesuite"
	"hermes/internal/store"
)

// Open opens the database at a place, which is a fresh folder or one that an
// earlier call in the same test was given. The test's end closes it.
type Open func(t *testing.T, at string) store.Database

// Run runs the whole contract.
func Run(t *testing.T, open Open) {
	t.Helper()
	t.Run("store", func(t *testing.T) {
		storesuite.Run(t, func(t *testing.T) hermes.Store { return open(t, t.TempDir()) })
	})
	t.Run("ledger", func(t *testing.T) {
		storesuite.RunLedger(t, func(t *testing.T) hermes.Ledger { return open(t, t.TempDir()) })
	})
	t.Run("learnings", func(t *testing.T) {
		storesuite.RunLearnings(t, func(t *testing.T) hermes.Learnings { return open(t, t.TempDir()) })
	})
	t.Run("recollections", func(t *testing.T) {
		storesuite.RunRecollections(t, func(t *testing.T) hermes.Recollections { return open(t, t.TempDir()) })
	})
	t.Run("summaries", func(t *testing.T) {
		storesuite.RunSummaries(t, func(t *testing.T) storesuite.SummarizedStore { return open(t, t.TempDir()) })
	})
	for name, run := range map[string]func(*testing.T, Open){
		"what waits survives": waitingSurvives, "reviews are pending until they are done": pendingReviews,
		"pruning takes ended sessions only": pruneEnded, "pruning waits for its interval": pruneInterval,
		"owners of leases": leaseOwners,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open)
		})
	}
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func create(t *testing.T, s store.Database, row hermes.Session) {
	t.Helper()
	if row.Started.IsZero() {
		row.Started = start
	}
	if err := s.CreateSession(t.Context(), row); err != nil {
		t.Fatal(err)
	}
}

func mustClose(t *testing.T, s store.Database) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func waitingSurvives(t *testing.T, open Open) {
	at := t.TempDir()
	s := open(t, at)
	create(t, s, hermes.Session{ID: "a"})
	l := hermes.Lease{Session: "a"}
	id, err := s.AddWaiting(t.Context(), l, hermes.WaitingMessage{Message: hermes.UserText("hi"), Urgent: true})
	if err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	s = open(t, at)
	got, err := s.WaitingMessages(t.Context(), "a")
	want := []hermes.WaitingMessage{{ID: id, Message: hermes.UserText("hi"), Urgent: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := s.Commit(t.Context(), l, hermes.Change{TakeWaiting: []int64{id}}); err != nil {
		t.Error(err)
	}
}

func pendingReviews(t *testing.T, open Open) {
	at := t.TempDir()
	s := open(t, at)
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
	mustClose(t, s) // the process dies
	s = open(t, at)
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

// aged makes sessions, one a day; every second one has ended.
func aged(t *testing.T, s store.Database, n int) {
	t.Helper()
	for i := range n {
		row := hermes.Session{ID: fmt.Sprintf("s%02d", i), Platform: []string{"cli", "cron"}[i/2%2], Started: start.AddDate(0, 0, i)}
		if i%2 == 1 {
			row.Ended, row.EndReason = row.Started, "done"
		}
		create(t, s, row)
		m := hermes.UserText(strings.Repeat(fmt.Sprintf("word%d ", i), 500))
		m.Time = row.Started
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: row.ID}, hermes.Change{Append: []hermes.Message{m}}); err != nil {
			t.Fatal(err)
		}
	}
}

func pruneEnded(t *testing.T, open Open) {
	s := open(t, t.TempDir())
	aged(t, s, 60)
	pin := true
	if err := s.UpdateSession(t.Context(), "s01", hermes.SessionChange{Pinned: &pin}); err != nil {
		t.Fatal(err)
	}
	create(t, s, hermes.Session{ID: "child", Parent: "s03", Started: start.AddDate(1, 0, 0)})
	n, err := s.Prune(t.Context(), store.Retention{Before: start.AddDate(0, 0, 50), Platform: "cron"})
	if err != nil || n != 12 {
		t.Errorf("%d sessions of cron were pruned, want 12; %v", n, err)
	}
	n, err = s.Prune(t.Context(), store.Retention{Before: start.AddDate(0, 0, 50)})
	if err != nil || n != 12 {
		t.Errorf("%d sessions were pruned, want 12; %v", n, err)
	}
	rows, err := s.ListSessions(t.Context(), hermes.SessionFilter{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if !r.Ended.IsZero() && !r.Pinned && r.Active.Before(start.AddDate(0, 0, 50)) {
			t.Errorf("%s is still there", r.ID)
		}
		if r.Parent != "" {
			t.Errorf("%s has the parent %s", r.ID, r.Parent)
		}
	}
	if want := 60 + 1 - 24; len(rows) != want {
		t.Errorf("%d sessions remain, want %d", len(rows), want)
	}
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "word3"})
	if err != nil || len(hits) != 0 {
		t.Errorf("%d pruned messages are found, %v", len(hits), err)
	}
}

func pruneInterval(t *testing.T, open Open) {
	s := open(t, t.TempDir())
	aged(t, s, 4)
	for i, c := range []struct {
		every time.Duration
		want  bool
	}{{time.Hour, true}, {time.Hour, false}, {0, true}} {
		did, err := s.AutoPrune(t.Context(), store.Retention{}, c.every)
		if err != nil || did != c.want {
			t.Errorf("call %d: %v, %v", i, did, err)
		}
	}
	rows, err := s.ListSessions(t.Context(), hermes.SessionFilter{})
	if err != nil || len(rows) != 2 {
		t.Errorf("%d sessions remain, want 2; %v", len(rows), err)
	}
}

func leaseOwners(t *testing.T, open Open) {
	s := open(t, t.TempDir())
	for id, l := range map[string]struct {
		owner string
		ttl   time.Duration
	}{"a": {"me", time.Hour}, "b": {"me", time.Hour}, "c": {"gone", -time.Second}} {
		create(t, s, hermes.Session{ID: id})
		if _, err := s.Acquire(t.Context(), id, hermes.Owner{Name: l.owner}, l.ttl); err != nil {
			t.Fatal(err)
		}
	}
	owners, err := s.LeaseOwners(t.Context())
	if diff := cmp.Diff([]string{"me"}, owners); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}
