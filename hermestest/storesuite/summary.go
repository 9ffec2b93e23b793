package storesuite

import (
	"testing"
	"time"

	"hermes"
)

// SummarizedStore is a store that also stores summaries.
type SummarizedStore interface {
	hermes.Store
	hermes.Summaries
}

// RunSummaries is the contract suite of [hermes.Summaries]. open returns an
// empty store and closes it when the test ends.
func RunSummaries(t *testing.T, open func(t *testing.T) SummarizedStore) {
	t.Helper()
	s := open(t)
	for _, id := range []string{"a", "b", "c"} {
		begin(t, s, hermes.Session{ID: id}, 0)
	}
	for i, m := range []hermes.Summary{
		{Session: "a", Text: "an older text"}, {Session: "a", Text: "Built the Parser; the tests of 字符串 pass."},
		{Session: "b", Text: "The parser was released at 100%."},
	} {
		m.At = day.Add(time.Duration(i) * time.Hour)
		if err := s.SaveSummary(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	wantErr(t, s.SaveSummary(t.Context(), hermes.Summary{Session: "nobody", Text: "x"}), hermes.ErrNotFound)
	of := func(ids ...string) map[string]hermes.Summary {
		t.Helper()
		got, err := s.Summaries(t.Context(), ids...)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	find := func(text string, limit int) (ids []string) {
		t.Helper()
		list, err := s.FindSummaries(t.Context(), text, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			ids = append(ids, m.Session)
		}
		return ids
	}
	got := of("a", "c", "nobody")
	same(t, len(got), 1)
	same(t, []string{got["a"].Session, got["a"].Text}, []string{"a", "Built the Parser; the tests of 字符串 pass."})
	same(t, got["a"].At.Equal(day.Add(time.Hour)), true)
	same(t, len(of()), 0)
	same(t, find("PARSER", 0), []string{"b", "a"})
	same(t, find("parser", 1), []string{"b"})
	same(t, find("tests parser", 0), []string{"a"})
	same(t, find("字符", 0), []string{"a"})
	same(t, find("0%", 0), []string{"b"})
	same(t, find("older", 0), []string(nil))
	same(t, find("  ", 0), []string(nil))
	if err := s.DeleteSession(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	begin(t, s, hermes.Session{ID: "a"}, 5)
	same(t, len(of("a")), 0)
	same(t, find("built", 0), []string(nil))
}
