package storesuite

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
)

// compactCases is the contract of hermes.Compactor.
func compactCases() []storeCase {
	return []storeCase{
		{"inserted messages have the position of hidden ones", compactOrder},
		{"a range can select the first messages", firstOfMany},
		{"hidden messages are found and read", compactFound},
		{"a compacted session can be rewound", compactRewound},
		{"a stale lease compacts nothing", compactStale},
	}
}

// talked returns a session with five user messages.
func talked(t *testing.T, s hermes.Store) (hermes.Lease, []int64) {
	t.Helper()
	begin(t, s, hermes.Session{ID: "talked", Platform: "test"}, 0)
	l := lease(t, s, "talked", "me")
	var ids []int64
	for _, text := range []string{"one", "two", "three", "four", "five"} {
		ids = append(ids, add(t, s, l, hermes.UserText(text))...)
	}
	return l, ids
}

func spoken(t *testing.T, s hermes.Store, r hermes.Range) []string {
	t.Helper()
	list, err := s.Messages(t.Context(), "talked", r)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range list {
		out = append(out, m.Text())
	}
	return out
}

func compact(t *testing.T, s hermes.Store, l hermes.Lease, ids []int64) []int64 {
	t.Helper()
	put, err := s.Compact(t.Context(), l, hermes.Compaction{
		Hide:   ids[1:4],
		Insert: []hermes.Insertion{{At: ids[1], Message: hermes.UserText("the summary")}, {At: ids[3], Message: hermes.UserText("four, shorter")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return put
}

func compactOrder(t *testing.T, s hermes.Store) {
	l, ids := talked(t, s)
	put := compact(t, s, l, ids)
	if len(put) != 2 || put[0] <= ids[4] || put[1] <= put[0] {
		t.Errorf("ids %v", put)
	}
	want := []string{"one", "the summary", "four, shorter", "five"}
	if diff := cmp.Diff(want, spoken(t, s, hermes.Range{})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[2:], spoken(t, s, hermes.Range{Last: 2})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:2], spoken(t, s, hermes.Range{First: 2})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[1:2], spoken(t, s, hermes.Range{First: 2, Last: 1})); diff != "" {
		t.Error(diff)
	}
	add(t, s, l, hermes.UserText("six"))
	// A second compaction hides the first one's summary.
	if _, err := s.Compact(t.Context(), l, hermes.Compaction{Hide: put, Insert: []hermes.Insertion{{At: put[0], Message: hermes.UserText("again")}}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one", "again", "five", "six"}, spoken(t, s, hermes.Range{})); diff != "" {
		t.Error(diff)
	}
	row, err := s.FindSession(t.Context(), "talked")
	if err != nil || row.Messages != 4 {
		t.Errorf("the row counts %d messages, %v", row.Messages, err)
	}
}

func firstOfMany(t *testing.T, s hermes.Store) {
	_, ids := talked(t, s)
	if diff := cmp.Diff([]string{"three", "four"}, spoken(t, s, hermes.Range{After: ids[1], First: 2})); diff != "" {
		t.Error(diff)
	}
}

func compactFound(t *testing.T, s hermes.Store) {
	l, ids := talked(t, s)
	compact(t, s, l, ids)
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "three"})
	if err != nil || len(hits) != 1 || hits[0].Message.ID != ids[2] {
		t.Errorf("found %v, %v", hits, err)
	}
	if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "summary"}); err != nil || len(hits) != 0 {
		t.Errorf("the summary is found in addition to its sources: %v, %v", hits, err)
	}
	raw := []string{"one", "two", "three", "four", "five"}
	if diff := cmp.Diff(raw, spoken(t, s, hermes.Range{Raw: true})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(raw[1:3], spoken(t, s, hermes.Range{Raw: true, After: ids[0], First: 2})); diff != "" {
		t.Error(diff)
	}
	want := []string{"one", "two", "the summary", "three", "four", "four, shorter", "five"}
	if diff := cmp.Diff(want, spoken(t, s, hermes.Range{Hidden: true})); diff != "" {
		t.Error(diff)
	}
}

func compactRewound(t *testing.T, s hermes.Store) {
	l, ids := talked(t, s)
	put := compact(t, s, l, ids)
	if err := s.Rewind(t.Context(), l, ids[4]); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "the summary", "four, shorter"}
	if diff := cmp.Diff(want, spoken(t, s, hermes.Range{})); diff != "" {
		t.Error(diff)
	}
	if err := s.Rewind(t.Context(), l, put[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"one"}, spoken(t, s, hermes.Range{})); diff != "" {
		t.Error(diff)
	}
}

func compactStale(t *testing.T, s hermes.Store) {
	l, ids := talked(t, s)
	l.Fence--
	_, err := s.Compact(t.Context(), l, hermes.Compaction{Hide: ids})
	if !errors.Is(err, hermes.ErrStaleLease) {
		t.Errorf("err = %v", err)
	}
	if got := spoken(t, s, hermes.Range{}); len(got) != 5 {
		t.Errorf("changed to %v", got)
	}
}
