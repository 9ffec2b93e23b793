package storesuite

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// RunRecollections is the contract suite of [hermes.Recollections]. open
// returns an empty store and closes it when the test ends.
func RunRecollections(t *testing.T, open func(t *testing.T) hermes.Recollections) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, hermes.Recollections)
	}{
		{"by words", recollectWords},
		{"by vector", recollectVector},
		{"the same text once", recollectOnce},
		{"the oldest are dropped", recollectBound},
		{"one is forgotten", recollectForget},
		{"any question", recollectAnything},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

func keep(t *testing.T, s hermes.Recollections, most int, list ...hermes.Recollection) {
	t.Helper()
	if err := s.Remember(t.Context(), most, list...); err != nil {
		t.Fatal(err)
	}
}

func recollect(t *testing.T, s hermes.Recollections, q hermes.RecollectionQuery) []string {
	t.Helper()
	list, err := s.Recollect(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	last := 2.0
	for _, r := range list {
		if r.Score > last || r.Score < q.Least || r.Score > 1.0001 {
			t.Errorf("%q has the score %v after %v", r.Text, r.Score, last)
		}
		last = r.Score
		texts = append(texts, r.Text)
	}
	return texts
}

func recollection(text string, on int, vector ...int8) hermes.Recollection {
	return hermes.Recollection{Session: fmt.Sprint("s", on), At: day.AddDate(0, 0, on), Text: text, Vector: vector}
}

func recollectWords(t *testing.T, s hermes.Recollections) {
	keep(t, s, 0, recollection("The staging server is called heron", 1), recollection("Lunch is at noon", 2), recollection("Heron runs Postgres on port 5433", 3), recollection("喜欢喝绿茶", 4))
	keep(t, s, 0, hermes.Recollection{At: day, Text: "The printer is jammed"})
	for _, c := range []struct {
		name string
		q    hermes.RecollectionQuery
		want []string
	}{
		{"more words first", hermes.RecollectionQuery{Text: "which port has Postgres on HERON?"}, []string{"Heron runs Postgres on port 5433", "The staging server is called heron"}},
		{"another session only", hermes.RecollectionQuery{Text: "heron", Exclude: "s3"}, []string{"The staging server is called heron"}},
		{"a script without blanks", hermes.RecollectionQuery{Text: "绿茶"}, []string{"喜欢喝绿茶"}},
		{"one of no session", hermes.RecollectionQuery{Text: "printer"}, []string{"The printer is jammed"}},
		{"nothing", hermes.RecollectionQuery{Text: "zebra"}, []string{}},
		{"the newest, without a question", hermes.RecollectionQuery{Limit: 2}, []string{"喜欢喝绿茶", "Heron runs Postgres on port 5433"}},
		{"a high bar", hermes.RecollectionQuery{Text: "heron elephant giraffe rhinoceros", Least: 0.9}, []string{}},
	} {
		if diff := cmp.Diff(c.want, recollect(t, s, c.q)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func recollectVector(t *testing.T, s hermes.Recollections) {
	keep(t, s, 0, recollection("aa", 1, 100, 0, 0), recollection("bb", 2, 60, 60, 0), recollection("cc", 3, -100, 0, 0), recollection("dd", 4, 1, 2), recollection("ee", 5))
	if diff := cmp.Diff([]string{"aa", "bb"}, recollect(t, s, hermes.RecollectionQuery{Vector: []int8{127, 0, 0}})); diff != "" {
		t.Error(diff)
	}
	list, err := s.Recollect(t.Context(), hermes.RecollectionQuery{Vector: []int8{127, 0, 0}, Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	want := recollection("aa", 1, 100, 0, 0)
	want.ID, want.Score = list[0].ID, list[0].Score
	if diff := cmp.Diff(want, list[0]); diff != "" {
		t.Error(diff)
	}
}

func recollectOnce(t *testing.T, s hermes.Recollections) {
	keep(t, s, 0, recollection("same", 1), recollection("other", 2), recollection("same", 3), recollection("same", 0))
	list, err := s.Recollect(t.Context(), hermes.RecollectionQuery{})
	if err != nil || len(list) != 2 || list[0].Text != "same" || !list[0].At.Equal(day.AddDate(0, 0, 3)) {
		t.Errorf("got %+v, %v", list, err)
	}
}

func recollectBound(t *testing.T, s hermes.Recollections) {
	keep(t, s, 3, recollection("one apple", 1), recollection("two apple", 2), recollection("three apple", 3))
	keep(t, s, 3, recollection("four apple", 4))
	if got := recollect(t, s, hermes.RecollectionQuery{Text: "apple"}); len(got) != 3 {
		t.Errorf("kept %q", got)
	}
	if diff := cmp.Diff([]string{}, recollect(t, s, hermes.RecollectionQuery{Text: "one"})); diff != "" {
		t.Error(diff)
	}
}

func recollectForget(t *testing.T, s hermes.Recollections) {
	keep(t, s, 0, recollection("one apple", 1), recollection("two apple", 2))
	list, err := s.Recollect(t.Context(), hermes.RecollectionQuery{Text: "two"})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if err := s.ForgetRecollection(t.Context(), list[0].ID); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one apple"}, recollect(t, s, hermes.RecollectionQuery{Text: "apple"})); diff != "" {
		t.Error(diff)
	}
	if err := s.ForgetRecollection(t.Context(), list[0].ID); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("forgotten twice: %v", err)
	}
}

func recollectAnything(t *testing.T, s hermes.Recollections) {
	keep(t, s, 0, recollection("a plain text", 1))
	for _, q := range []string{`"`, `plain"`, "NOT plain", "AND OR", "*", "a:b (c", "\x00", "é\xff", "'; DROP TABLE recollections", "{}[]^~"} {
		if _, err := s.Recollect(t.Context(), hermes.RecollectionQuery{Text: q}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
}
