package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

// corpusSize is the number of messages that the benchmarks make, 50 to a
// session; HERMES_BENCH_MESSAGES sets another, such as 1000000.
func corpusSize(tb testing.TB) int {
	tb.Helper()
	text := os.Getenv("HERMES_BENCH_MESSAGES")
	if text == "" {
		return 20_000
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// corpus opens a database of generated messages. With HERMES_BENCH_DIR it is
// kept there and reused.
func corpus(tb testing.TB, n int) *sqlite.Store {
	tb.Helper()
	dir := os.Getenv("HERMES_BENCH_DIR")
	if dir == "" {
		dir = tb.TempDir()
	}
	path := filepath.Join(dir, fmt.Sprintf("corpus-%d.db", n))
	_, err := os.Stat(path)
	s, openErr := sqlite.Open(tb.Context(), sqlite.Config{Path: path})
	if openErr != nil {
		tb.Fatal(openErr)
	}
	tb.Cleanup(func() { s.Close() })
	if err == nil {
		return s
	}
	start := time.Now()
	fill(tb, s, n)
	tb.Logf("%d messages made in %v", n, time.Since(start).Round(time.Millisecond))
	return s
}

const words = 200_000

// spell returns the word of a rank; rank 0 is the most frequent.
func spell(rank int) string {
	const consonants, vowels = "bcdfghklmnprstvz", "aeiou"
	var b strings.Builder
	for n := rank + 7; n > 0 || b.Len() < 3; n /= 80 {
		b.WriteByte(consonants[n%16])
		b.WriteByte(vowels[n/16%5])
	}
	return b.String()
}

// fill writes sessions of 50 messages whose words follow Zipf's law: the user, the
// model with a call, the result of its tool, and so on.
func fill(tb testing.TB, s *sqlite.Store, n int) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 4, words-1)
	sentence := func() string {
		var b strings.Builder
		for range 10 + random.IntN(80) {
			b.WriteString(spell(int(zipf.Uint64())))
			b.WriteByte(' ')
		}
		return b.String()
	}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ctx := tb.Context()
	for i := 0; i < n; i += 50 {
		id := fmt.Sprintf("20260101_000000_%06x", i/50)
		row := hermes.Session{ID: id, Platform: []string{"cli", "telegram"}[i/50%2], Title: "session " + id, Started: at,
			System: "You are Hermes.", Model: "demo:scripted"}
		if err := s.CreateSession(ctx, row); err != nil {
			tb.Fatal(err)
		}
		batch := make([]hermes.Message, 0, 50)
		for j := range min(50, n-i) {
			at = at.Add(time.Second)
			m := hermes.UserText(sentence())
			m.Time, m.Turn = at, int64(j/4+1)
			switch j % 4 {
			case 1:
				m.Role, m.Finish, m.Model = hermes.RoleAssistant, hermes.FinishCalls, "demo:scripted"
				m.Usage = &hermes.Usage{Input: 900, Output: 70, Calls: 1}
				m.Calls = []hermes.ToolCall{{ID: "call_" + strconv.Itoa(j), Name: "read_file", Arguments: `{"path":"` + spell(int(zipf.Uint64())) + `.go"}`}}
			case 2:
				m.Role, m.CallID, m.ToolName = hermes.RoleTool, "call_"+strconv.Itoa(j-1), "read_file"
			case 3:
				m.Role, m.Finish = hermes.RoleAssistant, hermes.FinishStop
			}
			batch = append(batch, m)
		}
		if _, err := s.Commit(ctx, hermes.Lease{Session: id}, hermes.Change{Append: batch}); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkSearch looks for words of every frequency and reports, besides the
// mean, the slow end of those in up to 5,000 messages and of the others.
func BenchmarkSearch(b *testing.B) {
	n := corpusSize(b)
	s := corpus(b, n)
	stats, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var few, many []time.Duration
	for _, rank := range []int{0, 1, 2, 5, 20, 50, 100, 300, 1000, 2000, 3000, 4000, 5000, 7000, 10_000, 20_000, 50_000, 100_000} {
		query := hermes.SearchQuery{Text: spell(rank)}
		hits, err := s.Search(b.Context(), hermes.SearchQuery{Text: spell(rank), Limit: 5001})
		if err != nil {
			b.Fatal(err)
		}
		for range 5 {
			start := time.Now()
			if _, err := s.Search(b.Context(), query); err != nil {
				b.Fatal(err)
			}
			if len(hits) > 5000 {
				many = append(many, time.Since(start))
			} else {
				few = append(few, time.Since(start))
			}
		}
	}
	report := func(name string, list []time.Duration) {
		if len(list) == 0 {
			return
		}
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)*95/100].Microseconds())/1000, name+"-p95-ms")
		b.ReportMetric(float64(list[len(list)-1].Microseconds())/1000, name+"-max-ms")
	}
	for b.Loop() {
		if _, err := s.Search(b.Context(), hermes.SearchQuery{Text: spell(1000)}); err != nil {
			b.Fatal(err)
		}
	}
	report("few", few)
	report("many", many)
	b.ReportMetric(float64(stats.FileBytes)/float64(stats.TextBytes), "file/text")
}

// BenchmarkAppend stores one message at a time in addition to the corpus.
func BenchmarkAppend(b *testing.B) {
	s := corpus(b, corpusSize(b))
	id := fmt.Sprintf("append-%d", time.Now().UnixNano())
	if err := s.CreateSession(b.Context(), hermes.Session{ID: id, Started: time.Now()}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.DeleteSession(b.Context(), id) })
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 4, words-1)
	for b.Loop() {
		var text strings.Builder
		for range 45 {
			text.WriteString(spell(int(zipf.Uint64())) + " ")
		}
		if _, err := s.Commit(b.Context(), hermes.Lease{Session: id}, hermes.Change{Append: []hermes.Message{hermes.UserText(text.String())}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList is the first page of all sessions.
func BenchmarkList(b *testing.B) {
	s := corpus(b, corpusSize(b))
	for b.Loop() {
		if rows, err := s.ListSessions(b.Context(), hermes.SessionFilter{NonEmpty: true}); err != nil || len(rows) == 0 {
			b.Fatal(len(rows), err)
		}
	}
}

// BenchmarkResume loads a session of 5,000 messages.
func BenchmarkResume(b *testing.B) {
	s := mustOpen(b, sqlite.Config{Path: filepath.Join(b.TempDir(), "resume.db")})
	fill(b, s, 50)
	list, err := s.Messages(b.Context(), "20260101_000000_000000", hermes.Range{})
	if err != nil {
		b.Fatal(err)
	}
	for range 99 {
		if _, err := s.Commit(b.Context(), hermes.Lease{Session: "20260101_000000_000000"}, hermes.Change{Append: list}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		row, err := s.FindSession(b.Context(), "20260101_000000_000000")
		if err != nil {
			b.Fatal(err)
		}
		if list, err := s.Messages(b.Context(), row.ID, hermes.Range{}); err != nil || len(list) != 5000 {
			b.Fatal(len(list), err)
		}
	}
}

// BenchmarkOpen opens and closes a database that exists, with a write between.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "open.db")
	fill(b, mustOpen(b, sqlite.Config{Path: path}), 50)
	for b.Loop() {
		s, err := sqlite.Open(b.Context(), sqlite.Config{Path: path})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
