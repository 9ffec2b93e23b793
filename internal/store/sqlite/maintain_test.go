package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store"
	"hermes/internal/store/sqlite"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// aged makes sessions, one a day; every second one has ended.
func aged(t *testing.T, s *sqlite.Store, n int) {
	t.Helper()
	for i := range n {
		row := hermes.Session{ID: fmt.Sprintf("s%02d", i), Platform: []string{"cli", "cron"}[i/2%2], Started: start.AddDate(0, 0, i)}
		if i%2 == 1 {
			row.Ended, row.EndReason = row.Started, "done"
		}
		if err := s.CreateSession(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		m := hermes.UserText(strings.Repeat(fmt.Sprintf("word%d ", i), 500))
		m.Time = row.Started
		mustAppend(t, s, row.ID, m)
	}
}

func TestAutoPruneWaitsForTheInterval(t *testing.T) {
	t.Parallel()
	now := start.AddDate(1, 0, 0)
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path, Now: func() time.Time { return now }})
	aged(t, s, 4)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {time.Hour, false}, {24 * time.Hour, true}} {
		now = now.Add(c.after)
		did, err := s.AutoPrune(t.Context(), store.Retention{Before: now}, 24*time.Hour)
		if err != nil || did != c.want {
			t.Errorf("%v later: %v, %v", c.after, did, err)
		}
	}
}

// TestAutoShrinkWaitsForFreeSpace: a little free space stays in the file and does not count
// as having returned it.
func TestAutoShrinkWaitsForFreeSpace(t *testing.T) {
	t.Parallel()
	now := start.AddDate(1, 0, 0)
	s := mustOpen(t, sqlite.Config{Path: tempPath(t), Now: func() time.Time { return now }})
	aged(t, s, 60)
	big := start.AddDate(0, 6, 0)
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "big", Platform: "cli", Started: big, Ended: big, EndReason: "done"}); err != nil {
		t.Fatal(err)
	}
	m := hermes.UserText(strings.Repeat("a long story ", 100_000))
	m.Time = big
	mustAppend(t, s, "big", m)
	if err := s.Optimize(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time // what is pruned first
		want   bool
	}{{start.AddDate(0, 0, 4), false}, {now, true}, {now, false}} {
		if _, err := s.AutoPrune(t.Context(), store.Retention{Before: c.before}, 0); err != nil {
			t.Fatal(err)
		}
		did, err := s.AutoShrink(t.Context(), 24*time.Hour)
		if err != nil || did != c.want {
			t.Errorf("before %v: %v, want %v, %v", c.before, did, c.want, err)
		}
	}
}

func TestPruneAndOptimizeShrinkTheFile(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	aged(t, s, 60)
	if err := s.Optimize(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), store.Retention{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Optimize(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.FileBytes > before.FileBytes*8/10 {
		t.Errorf("the file had %d bytes and has %d, %v", before.FileBytes, after.FileBytes, err)
	}
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "word58"})
	if err != nil || len(hits) != 1 {
		t.Errorf("%d hits after an optimization, %v", len(hits), err)
	}
}

func TestBackup(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t), Readers: 1})
	aged(t, s, 3)
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), to); err == nil {
		t.Error("a backup wrote over another")
	}
	mustAppend(t, s, "s00", hermes.UserText("later"))
	copied := mustOpen(t, sqlite.Config{Path: to})
	if list := mustMessages(t, copied, "s00"); len(list) != 1 {
		t.Errorf("the copy has %d messages", len(list))
	}
}

func TestSearchRanksWhatFitsBest(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	mustCreate(t, s, "a")
	long := strings.Repeat("some other talk about this and that ", 20)
	mustAppend(t, s, "a",
		hermes.UserText("docker docker network"),
		hermes.UserText(long+"docker"),
		hermes.UserText(long),
		hermes.UserText("the weather"))
	first := func(query string, n int) string {
		t.Helper()
		hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: query})
		if err != nil || len(hits) != n {
			t.Fatalf("%q: %d hits, want %d; %v", query, len(hits), n, err)
		}
		return hits[0].Message.Text()
	}
	if got := first("docker", 2); got != "docker docker network" {
		t.Errorf("the best hit is %q", got)
	}
	// No message has all words: those with some are shown.
	if got := first("weather network forecast", 2); got != "docker docker network" && got != "the weather" {
		t.Errorf("the best hit is %q", got)
	}
	// An exact query is not loosened.
	if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: `weather AND network`}); err != nil || len(hits) != 0 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: `docker NOT network`}); err != nil || len(hits) != 1 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
}

func TestSearchOverBothIndexes(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	mustCreate(t, s, "a")
	mustCreate(t, s, "b")
	mustAppend(t, s, "a", hermes.UserText("docker 上海"), hermes.UserText("docker 北京"), hermes.UserText("podman 上海"), hermes.UserText("上 海 docker"))
	mustAppend(t, s, "b", hermes.UserText("docker 上海 again"))
	for _, c := range []struct {
		q    hermes.SearchQuery
		want string
	}{
		{hermes.SearchQuery{Text: "docker 上海"}, "docker 上海|docker 上海 again"},
		{hermes.SearchQuery{Text: "docker 上海", Oldest: true}, "docker 上海|docker 上海 again"},
		{hermes.SearchQuery{Text: "docker 上海", Session: "a"}, "docker 上海"},
		{hermes.SearchQuery{Text: "docker NOT 上海", Oldest: true}, "docker 北京|上 海 docker"},
		{hermes.SearchQuery{Text: "podman OR 北京", Oldest: true}, "docker 北京|podman 上海"},
		{hermes.SearchQuery{Text: "上海 NOT docker"}, "podman 上海"},
		{hermes.SearchQuery{Text: "上海 北京"}, "docker 上海 again|podman 上海|docker 北京|docker 上海"}, // none has both
	} {
		hits, err := s.Search(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, h := range hits {
			texts = append(texts, h.Message.Text())
		}
		if got := strings.Join(texts, "|"); got != c.want {
			t.Errorf("%+v finds %q, want %q", c.q, got, c.want)
		}
	}
}
