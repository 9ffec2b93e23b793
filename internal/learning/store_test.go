package learning_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/learning"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fixture is a learning.Store over an in-memory store. It records the undo entries.
type fixture struct {
	t       *testing.T
	records *hermestest.Learnings
	store   *learning.Store
	whats   []string
	// before is the content of the last change's records before it.
	before map[string][]byte
}

func newFixture(t *testing.T) *fixture {
	h := &fixture{t: t, records: &hermestest.Learnings{}}
	h.store = learning.New(learning.Config{
		Open: func(context.Context) (hermes.Learnings, error) { return h.records, nil },
		Now:  func() time.Time { return noon },
		Record: func(ctx context.Context, by, what string, records []string, write func() error) error {
			h.whats = append(h.whats, by+": "+what)
			h.before = map[string][]byte{}
			for _, name := range records {
				data, err := h.store.ReadRecord(name)
				if err != nil {
					return err
				}
				h.before[name] = data
			}
			return write()
		},
	})
	return h
}

// undo restores the state before the last change.
func (h *fixture) undo() {
	h.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(h.before)) {
		if err := h.store.WriteRecord(name, h.before[name]); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *fixture) put(l hermes.Learning) hermes.Learning {
	h.t.Helper()
	if l.Touched.IsZero() {
		l.Touched = noon
	}
	if l.Created.IsZero() {
		l.Created = l.Touched
	}
	l.Tool, l.Class = "terminal", "error"
	got, err := h.records.PutLearning(h.t.Context(), l)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// all returns every learning by its pattern.
func (h *fixture) all() map[string]hermes.Learning {
	h.t.Helper()
	list, err := h.store.Find(h.t.Context(), hermes.LearningQuery{Limit: -1})
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]hermes.Learning{}
	for _, l := range list {
		out[l.Pattern] = l
	}
	return out
}

func (h *fixture) tidy(dry bool) learning.Report {
	h.t.Helper()
	r, err := h.store.Tidy(h.t.Context(), dry)
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

const (
	moduleA = "go: error: the module requires a newer version of go than 1.20"
	moduleB = "go: error: module requires a newer version of go than 1.20"
)

func TestDuplicateLearningsAreMerged(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	h.put(hermes.Learning{Pattern: moduleA, Fix: "set GOTOOLCHAIN=auto", Context: "in the container", Tags: []string{"go"}, Seen: 2, Shown: 1, Failed: 1, Created: noon.AddDate(0, -1, 0)})
	best := h.put(hermes.Learning{Pattern: moduleB, Fix: "Set `GOTOOLCHAIN=auto`.", Tags: []string{"build"}, Seen: 3, Shown: 2, Helped: 2})
	h.put(hermes.Learning{Pattern: "make: error: no rule to make the target all", Fix: "cd into src first", Seen: 1})
	before := h.all()
	if r := h.tidy(true); len(r.Merged) != 1 || len(h.all()) != 3 || len(h.whats) != 0 {
		t.Fatalf("a dry run: %+v, %v", r, h.whats)
	}
	h.tidy(false)
	want := best
	want.Seen, want.Shown, want.Failed, want.Created = 5, 3, 1, noon.AddDate(0, -1, 0)
	want.Context, want.Tags = "in the container", []string{"build", "go"}
	if diff := cmp.Diff(want, h.all()[moduleB]); diff != "" || len(h.all()) != 2 {
		t.Errorf("%d left: %s", len(h.all()), diff)
	}
	if len(h.whats) != 1 || !strings.HasPrefix(h.whats[0], "upkeep: merge 2 learnings") {
		t.Errorf("said %q", h.whats)
	}
	h.undo()
	if diff := cmp.Diff(before, h.all()); diff != "" {
		t.Errorf("after undo: %s", diff)
	}
}

// TestWhatFailuresNameKeepsThemApart has failures that differ in a program, number or name.
func TestWhatFailuresNameKeepsThemApart(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, pattern := range []string{
		"zork: command not found", "frobnicate: command not found", "db: error 1045: access to the table failed", "db: error 2002: access to the table failed",
		"cat: /x/1: no such file or directory", "cat: /y/2: no such file or directory", "go: error: module example.org/a is too old", "go: error: module example.org/b is too old",
	} {
		h.put(hermes.Learning{Pattern: pattern, Fix: "install it", Seen: 1})
	}
	if r := h.tidy(false); len(r.Merged) != 0 || len(h.all()) != 8 {
		t.Errorf("merged %+v", r.Merged)
	}
}

func TestOnlyTheUserMergesDifferentFixes(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	a := h.put(hermes.Learning{Pattern: moduleA, Fix: "set GOTOOLCHAIN=auto", Seen: 2})
	b := h.put(hermes.Learning{Pattern: moduleB, Fix: "install go from the vendor's page", Seen: 1})
	if r := h.tidy(false); len(r.Merged) != 0 || len(h.all()) != 2 {
		t.Fatalf("merged automatically: %+v", r)
	}
	got, err := h.store.Merge(t.Context(), "person", a.ID, b.ID, a.ID)
	if err != nil || got.Fix != "set GOTOOLCHAIN=auto\nOr: install go from the vendor's page" || got.Seen != 3 || len(h.all()) != 1 {
		t.Fatalf("got %+v, %v", got, err)
	}
	if _, err := h.store.Merge(t.Context(), "person", a.ID, 99); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("with an unknown id: %v", err)
	}
	if _, err := h.store.Merge(t.Context(), "person", a.ID, a.ID); err == nil {
		t.Error("one was merged with itself")
	}
	c := h.put(hermes.Learning{Pattern: moduleB, Fix: strings.Repeat("long ", 190)})
	if _, err := h.store.Merge(t.Context(), "person", a.ID, c.ID); err == nil || len(h.all()) != 2 {
		t.Error("texts that are too long were merged")
	}
}

func TestUselessFixesAreRetired(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, l := range []hermes.Learning{
		{Pattern: "wrong", Fix: "x", Seen: 9, Shown: 4, Failed: 3},
		{Pattern: "useless", Fix: "x", Seen: 6, Shown: 5},
		{Pattern: "failed, but mostly helped", Fix: "x", Shown: 9, Helped: 6, Failed: 3},
		{Pattern: "new", Fix: "x", Shown: 2},
		{Pattern: "faded", Fix: "x", Touched: noon.AddDate(0, 0, -181)},
		{Pattern: "old and proved", Fix: "x", Shown: 1, Helped: 1, Touched: noon.AddDate(0, 0, -400)},
		{Pattern: "very old", Fix: "x", Shown: 1, Helped: 1, Touched: noon.AddDate(0, 0, -740)},
		{Pattern: "without a fix", Seen: 3},
	} {
		h.put(l)
	}
	before := h.all()
	r := h.tidy(false)
	why := map[string]string{}
	for _, l := range r.Retired {
		why[l.Learning.Pattern] = l.Why
	}
	if diff := cmp.Diff(map[string]string{"wrong": learning.Wrong, "useless": learning.Useless, "faded": learning.Faded, "very old": learning.Faded}, why); diff != "" {
		t.Error(diff)
	}
	after := h.all()
	if got := after["wrong"]; got.Fix != "" || got.Seen != 9 || got.Failed != 0 || got.ID != before["wrong"].ID {
		t.Errorf("the failure was not reset: %+v", got)
	}
	if _, ok := after["faded"]; ok || len(after) != 6 {
		t.Errorf("left: %v", slices.Sorted(maps.Keys(after)))
	}
	if len(h.whats) != 3 { // two fixes and the faded ones, each with its own undo entry
		t.Errorf("said %q", h.whats)
	}
	if again := h.tidy(false); len(again.Retired) != 0 {
		t.Errorf("retired again: %+v", again)
	}
}

func TestUndoRestoresADeletedLearning(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	l := h.put(hermes.Learning{Pattern: "a/b#c%d\nsecond line", Fix: "x", Context: "y", Tags: []string{"t"}, Session: "s", Seen: 5, Shown: 4, Helped: 3, Failed: 2})
	if _, err := h.store.Delete(t.Context(), "person", l.ID, 77); !errors.Is(err, hermes.ErrNotFound) || len(h.all()) != 1 {
		t.Fatalf("with an unknown id: %v", err)
	}
	if _, err := h.store.Delete(t.Context(), "person", l.ID); err != nil || len(h.all()) != 0 {
		t.Fatal(err)
	}
	h.undo()
	if diff := cmp.Diff(l, h.all()[l.Pattern]); diff != "" {
		t.Error(diff)
	}
	// Undoing a new fix keeps the counts made since.
	l.Fix = "another"
	if _, err := h.store.Save(t.Context(), "s9", l); err != nil {
		t.Fatal(err)
	}
	if err := h.records.NoteFix(t.Context(), l.ID, hermes.FixShown, noon); err != nil {
		t.Fatal(err)
	}
	h.undo()
	if got := h.all()[l.Pattern]; got.Fix != "x" || got.Shown != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestLearningsAreExportedAndImported(t *testing.T) {
	t.Parallel()
	from, to := newFixture(t), newFixture(t)
	from.put(hermes.Learning{Pattern: "pip: error: externally-managed-environment", Fix: "use uv", Tags: []string{"python"}, Seen: 7})
	from.put(hermes.Learning{Pattern: "without a fix", Seen: 7})
	var file strings.Builder
	if n, err := from.store.Export(t.Context(), &file); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	admit := func(l hermes.Learning) (hermes.Learning, error) {
		l.Class = "error"
		if l.Fix == "" {
			return l, errors.New("no fix")
		}
		return l, nil
	}
	// A failure that already has a fix keeps it.
	for want := range 2 {
		n, err := to.store.Import(t.Context(), strings.NewReader(file.String()), admit)
		if err != nil || n != 1-want {
			t.Fatal(n, err)
		}
	}
	if got := to.all()["pip: error: externally-managed-environment"]; got.Fix != "use uv" || got.Seen != 0 || !slices.Equal(got.Tags, []string{"python"}) {
		t.Errorf("got %+v", got)
	}
	for _, bad := range []string{"", "{", "[]", `{"pattern":"a","fix":"b"}` + "\n" + `{"pattern":"c"}`} {
		if n, err := to.store.Import(t.Context(), strings.NewReader(bad), admit); err == nil || n != 0 || len(to.all()) != 1 {
			t.Errorf("%q: %d, %v", bad, n, err)
		}
	}
}
