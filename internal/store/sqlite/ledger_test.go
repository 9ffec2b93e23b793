package sqlite_test

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/store/sqlite"
)

func TestActivityOfAPeriod(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	before, since := now.AddDate(0, 0, -39), now.AddDate(0, 0, -30)
	for _, row := range []hermes.Session{
		{ID: "old", Platform: "cli", Model: "p:a", Usage: hermes.Usage{Input: 1000, Calls: 9}},
		{ID: "long", Platform: "cli", Model: "p:a", Usage: hermes.Usage{Input: 5000, Output: 500, Calls: 50}},
		{ID: "chat", Platform: "telegram", Model: "p:b", Usage: hermes.Usage{Input: 7, Calls: 1}},
		{ID: "imported", Platform: "cli", Model: "p:c"},
		{ID: "empty", Platform: "cli", Model: "p:a", Started: now},
	} {
		if row.Started.IsZero() {
			row.Started = before
		}
		if err := s.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	used := func(session, tool string, turn int64, failed bool, at time.Time) int64 {
		ids := mustAppend(t, s, session,
			hermes.Message{Role: hermes.RoleAssistant, Turn: turn, Time: at, Calls: []hermes.ToolCall{{ID: "c", Name: tool}}, Usage: &hermes.Usage{Input: 900, Calls: 1}},
			hermes.Message{Role: hermes.RoleTool, Turn: turn, CallID: "c", ToolName: tool, Failed: failed, Time: at, Parts: []hermes.Part{{Text: "x"}}})
		return ids[0]
	}
	paid := func(session, model, purpose string, tokens int64, at time.Time) {
		r, err := s.Reserve(t.Context(), hermes.Booking{At: at, Until: at.Add(time.Hour), Owner: "me", Session: session, Model: model, Purpose: purpose})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Settle(t.Context(), r.ID, hermes.Charge{Usage: hermes.Usage{Input: tokens, Output: 1, Calls: 1}, Priced: true}); err != nil {
			t.Fatal(err)
		}
	}
	for _, session := range []string{"old", "long", "chat"} {
		paid(session, "p:a", "", 4000, before)
		used(session, "terminal", 1, true, before)
	}
	paid("long", "p:a", "", 10, since)
	used("long", "terminal", 2, false, since) // the first moment counts
	paid("long", "p:side", "title", 3, now)
	undone := used("long", "read_file", 3, true, now)
	used("long", "terminal", 4, false, now)
	paid("chat", "p:b", "", 7, now)
	used("chat", "web_search", 2, false, now)
	used("imported", "terminal", 1, false, before) // no call of it is in the ledger
	used("imported", "terminal", 2, false, now)
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "branch", Parent: "chat", Platform: "telegram", Model: "p:b", Started: now.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	used("branch", "terminal", 1, false, now) // copied from its parent
	if _, err := s.Compact(t.Context(), hermes.Lease{Session: "chat"}, hermes.Compaction{
		Hide: []int64{5, 6}, Insert: []hermes.Insertion{{At: 5, Message: hermes.UserText("a summary")}},
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Activity(t.Context(), since, "")
	if err != nil {
		t.Fatal(err)
	}
	want := hermes.Active{
		Sessions: 5, Messages: 10, Calls: 5, Turns: 5, Usage: hermes.Usage{Input: 10 + 3 + 7 + 900, Output: 3, Calls: 4},
		ByPlatform: map[string]int{"cli": 3, "telegram": 2},
		ByModel: map[string]hermes.ModelActivity{
			"p:a":    {Sessions: 2, Usage: hermes.Usage{Input: 10, Output: 1, Calls: 1}},
			"p:side": {Usage: hermes.Usage{Input: 3, Output: 1, Calls: 1}},
			"p:b":    {Sessions: 2, Usage: hermes.Usage{Input: 7, Output: 1, Calls: 1}},
			"p:c":    {Sessions: 1, Usage: hermes.Usage{Input: 900, Calls: 1}},
		},
		Tools: []hermes.ToolActivity{{Name: "terminal", Calls: 3}, {Name: "read_file", Calls: 1, Failed: 1}, {Name: "web_search", Calls: 1}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := s.Rewind(t.Context(), hermes.Lease{Session: "long"}, undone); err != nil {
		t.Fatal(err)
	}
	got, err = s.Activity(t.Context(), since, "cli")
	want = hermes.Active{
		Sessions: 3, Messages: 4, Calls: 2, Turns: 2, Usage: hermes.Usage{Input: 10 + 3 + 900, Output: 2, Calls: 3},
		ByPlatform: map[string]int{"cli": 3},
		ByModel: map[string]hermes.ModelActivity{
			"p:a":    {Sessions: 2, Usage: hermes.Usage{Input: 10, Output: 1, Calls: 1}},
			"p:side": {Usage: hermes.Usage{Input: 3, Output: 1, Calls: 1}},
			"p:c":    {Sessions: 1, Usage: hermes.Usage{Input: 900, Calls: 1}},
		},
		Tools: []hermes.ToolActivity{{Name: "terminal", Calls: 3}, {Name: "read_file", Calls: 1, Failed: 1}}, // it ran, and was paid
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("of one platform, after undoing (%v): -want +got:\n%s", err, d)
	}
	if got, err = s.Activity(t.Context(), now.AddDate(0, 0, 1), ""); err != nil || got.Sessions != 0 || len(got.Tools) != 0 || got.Usage != (hermes.Usage{}) {
		t.Errorf("of no time: %+v, %v", got, err)
	}
}

// book reserves and settles one call at a time.
func book(t testing.TB, s *sqlite.Store, at time.Time, turn int, limits ...hermes.Account) {
	t.Helper()
	b := hermes.Booking{At: at, Until: at.Add(time.Hour), Owner: "me", Session: "s", Model: "p:m", Estimate: hermes.Amount{Money: 100, Tokens: 100}, WarnAt: []int{50, 75, 90}}
	b.Limits = []hermes.Limit{{Account: hermes.Account{Kind: hermes.AccountTurn, Name: fmt.Sprintf("s/%d", turn)}}}
	for _, a := range limits {
		b.Limits = append(b.Limits, hermes.Limit{Account: a, Cap: hermes.Amount{Money: 1 << 40}})
	}
	r, err := s.Reserve(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Settle(t.Context(), r.ID, hermes.Charge{Usage: hermes.Usage{Input: 90, Output: 10, Calls: 1}, Money: 90, Priced: true}); err != nil {
		t.Fatal(err)
	}
}

func day(t time.Time) hermes.Account {
	return hermes.Account{Kind: hermes.AccountDay, Name: t.Format(time.DateOnly)}
}

// TestTheLedgerStaysBounded: only the newest turn of a session has an account, and
// rows older than a year are removed.
func TestTheLedgerStaysBounded(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	old := now.AddDate(-2, 0, 0)
	session := hermes.Account{Kind: hermes.AccountSession, Name: "s"}
	book(t, s, old, 1, session, day(old))
	for turn := range 30 {
		book(t, s, now, turn+2, session, day(now))
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	count := func(query string) (n int) {
		t.Helper()
		if err := db.QueryRow(query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := count(`SELECT count(*) FROM spend_accounts`); n != 3 {
		t.Errorf("there are %d accounts", n)
	}
	if n := count(`SELECT count(*) FROM spend`); n != 30 {
		t.Errorf("there are %d calls", n)
	}
}

func TestRepairKeepsTheLedger(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	session := hermes.Account{Kind: hermes.AccountSession, Name: "s"}
	book(t, s, time.Now(), 1, session)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path})
	if err != nil || r.Lost != 0 {
		t.Fatalf("got %+v, %v", r, err)
	}
	s = mustOpen(t, sqlite.Config{Path: path})
	list, err := s.Balances(t.Context(), session)
	if err != nil || list[0].Spent.Money != 90 {
		t.Errorf("got %+v, %v", list, err)
	}
}

// BenchmarkBooking is the two writes of a metered call.
func BenchmarkBooking(b *testing.B) {
	s := mustOpen(b, sqlite.Config{Path: tempPath(b)})
	now := time.Now()
	for b.Loop() {
		book(b, s, now, 1, hermes.Account{Kind: hermes.AccountSession, Name: "s"}, hermes.Account{Kind: hermes.AccountTree, Name: "s"}, day(now),
			hermes.Account{Kind: hermes.AccountMonth, Name: "2026-11"})
	}
}
