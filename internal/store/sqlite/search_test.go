package sqlite

import (
	"testing"

	"hermes"
	"hermes/internal/fulltext"
)

func FuzzSearch(f *testing.F) {
	for _, seed := range []string{"docker", `"a b" NOT c*`, "上海 OR half-open", "\x00\"", "NEAR(", "a* *b", "한국어 ไทย", "ẞ İ ǅ", "\u0300"} {
		f.Add(seed)
	}
	s, err := Open(f.Context(), Config{Path: f.TempDir() + "/fuzz.db"})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { s.Close() })
	if err := s.CreateSession(f.Context(), hermes.Session{ID: "a", Started: s.cfg.Now()}); err != nil {
		f.Fatal(err)
	}
	lease := hermes.Lease{Session: "a"}
	if _, err := s.Commit(f.Context(), lease, hermes.Change{Append: []hermes.Message{hermes.UserText("a docker 上海 half-open text")}}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := s.Search(t.Context(), hermes.SearchQuery{Text: text}); err != nil {
			t.Errorf("the query %q: %v", text, err)
		}
		// What a query finds in its own text must be shown there.
		q := fulltext.Parse(text)
		fulltext.Snippet(text, q.Terms())
	})
}

func TestFoldedWordsAreFoundAsTheIndexSeesThem(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: t.TempDir() + "/fold.db"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "a", Started: s.cfg.Now()}); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{"Ångström", "angstrom"}, {"biệt", "biet"}, {"Straße", "straße"}, {"ČESKÝ", "cesky"}, {"हिन्दी", ""},
		{"Ελληνικά", ""}, {"ЁЖИК", "ёжик"}, {"مُحَمَّد", ""}, {"e\u0301tude", "étude"}, {"İstanbul", "istanbul"},
	} {
		if _, err := s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText(pair[0])}}); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{pair[0], pair[1]} {
			if query == "" {
				continue
			}
			hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: query})
			if err != nil || len(hits) != 1 || hits[0].Message.Text() != pair[0] {
				t.Errorf("%d messages are found by %q, %v", len(hits), query, err)
				continue
			}
			if want := ">>>" + pair[0] + "<<<"; hits[0].Snippet != want {
				t.Errorf("%q found by %q is shown as %q", pair[0], query, hits[0].Snippet)
			}
		}
	}
}
