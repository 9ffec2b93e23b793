package storesuite

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// RunLearnings is the contract suite of [hermes.Learnings]. open returns an
// empty store and closes it when the test ends.
func RunLearnings(t *testing.T, open func(t *testing.T) hermes.Learnings) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, hermes.Learnings)
	}{
		{"a failure is counted before its fix is known", learningCounts},
		{"a fix replaces the one before and keeps the counts", learningReplaces},
		{"outcomes of a fix are counted", learningOutcomes},
		{"learnings are found by their fields and by words", learningFinds},
		{"unneeded learnings are forgotten", learningForgets},
		{"a learning is put back as it was", learningPuts},
		{"merging loses no count", learningMerges},
		{"callers at the same time lose no count", learningParallel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// lesson returns a learning of the suite, touched on a day of it.
func lesson(pattern, fix string, on int) hermes.Learning {
	return hermes.Learning{Tool: "terminal", Class: "error", Pattern: pattern, Fix: fix, Session: "s", Touched: day.AddDate(0, 0, on)}
}

func save(t *testing.T, s hermes.Learnings, l hermes.Learning) hermes.Learning {
	t.Helper()
	got, err := s.SaveLearning(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func note(t *testing.T, s hermes.Learnings, l hermes.Learning) hermes.Learning {
	t.Helper()
	got, err := s.NoteFailure(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func learned(t *testing.T, s hermes.Learnings, q hermes.LearningQuery) []string {
	t.Helper()
	list, err := s.FindLearnings(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	patterns := []string{}
	for _, l := range list {
		patterns = append(patterns, l.Pattern)
	}
	return patterns
}

func learningCounts(t *testing.T, s hermes.Learnings) {
	note(t, s, lesson("a", "", 0))
	got := note(t, s, lesson("a", "", 2))
	want := hermes.Learning{ID: got.ID, Tool: "terminal", Class: "error", Pattern: "a", Session: "s", Created: day, Touched: day.AddDate(0, 0, 2), Seen: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func learningReplaces(t *testing.T, s hermes.Learnings) {
	note(t, s, lesson("a", "", 0))
	save(t, s, lesson("a", "first", 1))
	l := lesson("a", "second", 2)
	l.Context, l.Tags = "here", []string{"x", "y"}
	got := save(t, s, l)
	want := hermes.Learning{ID: got.ID, Tool: "terminal", Class: "error", Pattern: "a", Fix: "second", Context: "here", Tags: []string{"x", "y"}, Session: "s",
		Created: day, Touched: day.AddDate(0, 0, 2), Seen: 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	list, err := s.FindLearnings(t.Context(), hermes.LearningQuery{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]hermes.Learning{want}, list); diff != "" {
		t.Error(diff)
	}
}

func learningOutcomes(t *testing.T, s hermes.Learnings) {
	l := save(t, s, lesson("a", "fix", 0))
	for _, what := range []hermes.FixOutcome{hermes.FixShown, hermes.FixShown, hermes.FixHelped, hermes.FixFailed} {
		if err := s.NoteFix(t.Context(), l.ID, what, day.AddDate(0, 0, 5)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := s.FindLearnings(t.Context(), hermes.LearningQuery{Pattern: "a"})
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if got := list[0]; got.Shown != 2 || got.Helped != 1 || got.Failed != 1 || !got.Touched.Equal(day.AddDate(0, 0, 5)) {
		t.Errorf("got %+v", got)
	}
	if err := s.NoteFix(t.Context(), l.ID+99, hermes.FixShown, day); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("an unknown learning: %v", err)
	}
	if err := s.NoteFix(t.Context(), l.ID, "seen = 0 --", day); err == nil {
		t.Error("an unknown outcome was counted")
	}
}

func learningFinds(t *testing.T, s hermes.Learnings) {
	l := lesson("pip: externally managed", "use uv 100%_sure", 0)
	l.Tags = []string{"python", "Tag'"}
	save(t, s, l)
	note(t, s, lesson("no such file", "", 1))
	other := lesson("no such file", "look first", 2)
	other.Tool, other.Class = "read_file", "not_found"
	save(t, s, other)
	for _, c := range []struct {
		name string
		q    hermes.LearningQuery
		want []string
	}{
		{"all, the last touched first", hermes.LearningQuery{}, []string{"no such file", "no such file", "pip: externally managed"}},
		{"a tool", hermes.LearningQuery{Tool: "read_file"}, []string{"no such file"}},
		{"a class", hermes.LearningQuery{Class: "not_found"}, []string{"no such file"}},
		{"known ones", hermes.LearningQuery{Known: true}, []string{"no such file", "pip: externally managed"}},
		{"each word, in any field and case", hermes.LearningQuery{Text: "UV pip Python"}, []string{"pip: externally managed"}},
		{"a word that is not there", hermes.LearningQuery{Text: "uv conda"}, []string{}},
		{"signs of patterns are no patterns", hermes.LearningQuery{Text: "100%_sure"}, []string{"pip: externally managed"}},
		{"a sign that is not there", hermes.LearningQuery{Text: "u%v"}, []string{}},
		{"a tag", hermes.LearningQuery{Tag: "Tag'"}, []string{"pip: externally managed"}},
		{"part of a tag", hermes.LearningQuery{Tag: "pyth"}, []string{}},
		{"a limit", hermes.LearningQuery{Limit: 1}, []string{"no such file"}},
	} {
		if diff := cmp.Diff(c.want, learned(t, s, c.q)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func learningForgets(t *testing.T, s hermes.Learnings) {
	first := save(t, s, lesson("named", "x", 0))
	note(t, s, lesson("old and unknown", "", 0))
	save(t, s, lesson("old and known", "x", 0))
	note(t, s, lesson("new and unknown", "", 9))
	save(t, s, lesson("new and known", "x", 8))
	n, err := s.ForgetLearnings(t.Context(), hermes.Forgetting{IDs: []int64{first.ID, 999}, Unknown: day.AddDate(0, 0, 5)})
	if err != nil || n != 2 {
		t.Fatalf("forgot %d, %v", n, err)
	}
	if _, err = s.ForgetLearnings(t.Context(), hermes.Forgetting{Known: day.AddDate(0, 0, 5)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"new and unknown", "new and known"}, learned(t, s, hermes.LearningQuery{})); diff != "" {
		t.Error(diff)
	}
	// A learning with a fix is kept before a newer one without.
	if _, err = s.ForgetLearnings(t.Context(), hermes.Forgetting{Most: 1}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"new and known"}, learned(t, s, hermes.LearningQuery{})); diff != "" {
		t.Error(diff)
	}
	if n, err = s.ForgetLearnings(t.Context(), hermes.Forgetting{}); n != 0 || err != nil {
		t.Errorf("nothing was selected: %d, %v", n, err)
	}
}

func learningPuts(t *testing.T, s hermes.Learnings) {
	l := save(t, s, lesson("a", "fix", 1))
	l.Context, l.Tags, l.Seen, l.Shown, l.Helped, l.Failed, l.Touched = "here", []string{"x"}, 4, 3, 2, 1, day.AddDate(0, 0, 3)
	if _, err := s.ForgetLearnings(t.Context(), hermes.Forgetting{IDs: []int64{l.ID}}); err != nil {
		t.Fatal(err)
	}
	put := func(l hermes.Learning) hermes.Learning {
		t.Helper()
		got, err := s.PutLearning(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(l, put(l)); diff != "" {
		t.Errorf("put back: %s", diff)
	}
	// It replaces what is stored, also with older times and smaller counts.
	l.Fix, l.Seen, l.Touched = "before", 1, day
	if diff := cmp.Diff(l, put(l)); diff != "" {
		t.Errorf("replaced: %s", diff)
	}
	other := lesson("b", "", 0)
	other.Created, other.ID = day, l.ID
	if got := put(other); got.ID == l.ID || got.Pattern != "b" {
		t.Errorf("its number is taken: %+v", got)
	}
	if diff := cmp.Diff([]string{"b", "a"}, learned(t, s, hermes.LearningQuery{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, learned(t, s, hermes.LearningQuery{Text: "before here x"})); diff != "" {
		t.Errorf("found by its words: %s", diff)
	}
}

func learningMerges(t *testing.T, s hermes.Learnings) {
	note(t, s, lesson("a", "", 3))
	first := save(t, s, lesson("a", "fix", 3))
	note(t, s, lesson("b", "", 1))
	note(t, s, lesson("b", "", 5))
	second := save(t, s, lesson("b", "other", 2))
	for _, what := range []hermes.FixOutcome{hermes.FixShown, hermes.FixHelped, hermes.FixFailed} {
		if err := s.NoteFix(t.Context(), second.ID, what, day); err != nil {
			t.Fatal(err)
		}
	}
	want := first
	want.Fix, want.Context, want.Tags, want.Session = "fix; or other", "there", []string{"t"}, "s2"
	if _, err := s.MergeLearnings(t.Context(), want, second.ID, 999); !errors.Is(err, hermes.ErrNotFound) {
		t.Fatalf("with a missing one: %v", err)
	}
	if got := learned(t, s, hermes.LearningQuery{Text: "fix"}); len(got) != 1 || len(learned(t, s, hermes.LearningQuery{})) != 2 {
		t.Fatalf("changed despite the error: %v", got)
	}
	got, err := s.MergeLearnings(t.Context(), want, second.ID)
	if err != nil {
		t.Fatal(err)
	}
	want.Seen, want.Shown, want.Helped, want.Failed = 3, 1, 1, 1
	want.Created, want.Touched = day.AddDate(0, 0, 1), day.AddDate(0, 0, 5)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, learned(t, s, hermes.LearningQuery{Text: "there or"})); diff != "" {
		t.Errorf("found by its words: %s", diff)
	}
}

func learningParallel(t *testing.T, s hermes.Learnings) {
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				if _, err := s.NoteFailure(t.Context(), lesson("a", "", 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got := note(t, s, lesson("a", "", 0)); got.Seen != 101 || got.Touched.Location() == time.Local && !got.Touched.Equal(day) {
		t.Errorf("got %+v", got)
	}
}
