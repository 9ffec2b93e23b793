package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
)

// longSession returns a store with one session of n messages, of which a compaction replaced
// all but the last visible ones by a summary.
func longSession(tb testing.TB, n, visible int) (*Store, int64) {
	tb.Helper()
	s, err := Open(tb.Context(), Config{Path: filepath.Join(tb.TempDir(), "hermes.db")})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	if err := s.CreateSession(tb.Context(), hermes.Session{ID: "long", Started: time.Now()}); err != nil {
		tb.Fatal(err)
	}
	l := hermes.Lease{Session: "long"}
	list := make([]hermes.Message, n)
	for i := range list {
		list[i] = hermes.UserText(fmt.Sprintf("message %d %s", i, strings.Repeat("word ", 40)))
	}
	done, err := s.Commit(tb.Context(), l, hermes.Change{Append: list})
	if err != nil {
		tb.Fatal(err)
	}
	if hide := done.IDs[:n-visible]; len(hide) > 0 {
		c := hermes.Compaction{Hide: hide, Insert: []hermes.Insertion{{At: hide[0], Message: hermes.UserText("the summary")}}}
		if _, err := s.Compact(tb.Context(), l, c); err != nil {
			tb.Fatal(err)
		}
	}
	return s, 1
}

// TestRangesUseAnIndex: no range that a session reads sorts the transcript or looks at messages
// that it does not return.
func TestRangesUseAnIndex(t *testing.T) {
	t.Parallel()
	s, key := longSession(t, 50, 20)
	for name, c := range map[string]struct {
		r    hermes.Range
		want string
	}{
		"whole":        {hermes.Range{}, "messages_order"},
		"last":         {hermes.Range{Last: 3}, "messages_order"},
		"first":        {hermes.Range{First: 3}, "messages_order"},
		"raw":          {hermes.Range{Raw: true}, "messages_session"},
		"last of raw":  {hermes.Range{Raw: true, Last: 3}, "messages_session"},
		"raw around":   {hermes.Range{Raw: true, Before: 30, Last: 3}, "messages_session"},
		"raw from one": {hermes.Range{Raw: true, After: 30, First: 3}, "messages_session"},
	} {
		t.Run(name, func(t *testing.T) {
			query, args := rangeQuery(key, c.r)
			if got := plan(t, s, query, args); !strings.Contains(got, "USING INDEX "+c.want+" (") || strings.Contains(got, "TEMP B-TREE") {
				t.Error(got)
			}
		})
	}
}

// TestOpenQuestionsAreFoundByAnIndex: what was closed long ago is not looked at, also when questions that were
// closed lately are asked for. Only their number is bounded, by the newest.
func TestOpenQuestionsAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	s, _ := longSession(t, 1, 1)
	for _, f := range []hermes.QuestionFilter{{}, {ClosedSince: time.Now()}, {ClosedSince: time.Now(), Escalated: true}} {
		query, args := openQuery(f)
		got := plan(t, s, query, args)
		if !strings.Contains(got, "INDEX questions_open") || strings.Contains(got, "SCAN q\n") {
			t.Errorf("%+v: %s", f, got)
		}
	}
}

// plan is how the database answers a query.
func plan(t *testing.T, s *Store, query string, args []any) string {
	t.Helper()
	rows, err := s.read.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var steps strings.Builder
	for rows.Next() {
		var a, b, c int
		var step string
		if err := rows.Scan(&a, &b, &c, &step); err != nil {
			t.Fatal(err)
		}
		steps.WriteString(step + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps.String()
}

// BenchmarkMessages reads parts of a session of 10,000 messages, as it is and compacted.
func BenchmarkMessages(b *testing.B) {
	for _, visible := range []int{10_000, 1000} {
		s, _ := longSession(b, 10_000, visible)
		for name, r := range map[string]hermes.Range{"all": {}, "last 200": {Last: 200}, "raw last 2000": {Raw: true, Last: 2000}} {
			b.Run(fmt.Sprintf("%d visible/%s", visible, name), func(b *testing.B) {
				for b.Loop() {
					if _, err := s.Messages(b.Context(), "long", r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
