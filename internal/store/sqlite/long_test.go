package sqlite_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

// TestLongMessagesAreFoundToTheirEnd: text, arguments and scripts without spaces, with a
// snippet from where the words are.
func TestLongMessagesAreFoundToTheirEnd(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	mustCreate(t, s, "a")
	filler := strings.Repeat("some filler words, ", 40_000) // 760 KB
	called := hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c", Name: "write_file",
		Arguments: fmt.Sprintf(`{"content":%q}`, filler+"the call has a Wombat in it")}}}
	mustAppend(t, s, "a",
		hermes.UserText("short, with neither"),
		hermes.UserText(filler+"and then a walrus appears. "+filler),
		hermes.UserText(filler+strings.Repeat("東京", 50_000)+"上海 at last"),
		called)
	for query, want := range map[string]string{
		"walrus":           "and then a >>>walrus<<< appears.",
		`"a walrus appea"`: "",
		`"then a walrus"`:  "and >>>then a walrus<<< appears.",
		"walr*":            "a >>>walrus<<< appears.",
		"上海":               "京>>>上海<<< at last",
		"wombat":           "the call has a >>>Wombat<<< in it",
	} {
		hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: query})
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			if len(hits) != 0 {
				t.Errorf("%s finds %q", query, hits[0].Snippet)
			}
			continue
		}
		if len(hits) != 1 || !strings.Contains(hits[0].Snippet, want) || len(hits[0].Snippet) > 400 {
			t.Errorf("%s: %d hits, want the snippet %q", query, len(hits), want)
			for _, h := range hits {
				t.Log(h.Snippet)
			}
		}
	}
}

// TestLongMessagesOfAnEarlierVersionAreIndexedAgain: also when it is ended in the middle,
// and only where an earlier version has written.
func TestLongMessagesOfAnEarlierVersionAreIndexedAgain(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	mustCreate(t, s, "a")
	filler := strings.Repeat("some filler words, ", 4000)
	for range 20 {
		mustAppend(t, s, "a", hermes.UserText("short walrus"), hermes.UserText(filler+"a long walrus 上海"))
	}
	find := func() int {
		hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "long AND walrus AND 上海", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	if err := s.IndexWhole(t.Context()); err != nil || find() != 20 {
		t.Fatalf("%d of 20 are found, %v", find(), err)
	}
	db := raw(t, path)
	mustExec(t, db, `DELETE FROM words WHERE rowid % 2 = 0; DELETE FROM grams;
		INSERT INTO words (rowid, text) SELECT id, 'some filler' FROM messages WHERE id % 2 = 0;
		INSERT INTO meta (name, value) VALUES ('partly_indexed', 40)`)
	if n := find(); n != 0 {
		t.Fatalf("%d are found in the partial index", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.IndexWhole(ended); err == nil {
		t.Error("it went on after its end")
	}
	for range 2 {
		if err := s.IndexWhole(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := find(); n != 20 {
			t.Errorf("%d of 20 are found", n)
		}
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// BenchmarkLongMessages stores and finds messages of 1 MB, and reports the size of the
// file for each byte of text.
func BenchmarkLongMessages(b *testing.B) {
	s := mustOpen(b, sqlite.Config{Path: tempPath(b)})
	mustCreate(b, s, "a")
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 4, words-1)
	var stored time.Duration
	for range 20 {
		var text strings.Builder
		for text.Len() < 1<<20 {
			text.WriteString(spell(int(zipf.Uint64())) + " ")
		}
		start := time.Now()
		mustAppend(b, s, "a", hermes.UserText(text.String()+"walrus"))
		stored += time.Since(start)
	}
	stats, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if hits, err := s.Search(b.Context(), hermes.SearchQuery{Text: "walrus"}); err != nil || len(hits) != 20 {
			b.Fatal(len(hits), err)
		}
	}
	b.ReportMetric(float64(stored.Milliseconds())/20, "store-ms")
	b.ReportMetric(float64(stats.FileBytes)/float64(stats.TextBytes), "file/text")
}
