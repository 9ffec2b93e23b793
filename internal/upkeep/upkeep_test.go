package upkeep_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hermes"
	"hermes/internal/upkeep"
)

// database records what is done to it. A backup takes as long as backup says, unless its
// context ends.
type database struct {
	backup time.Duration

	mu   sync.Mutex
	done []string
}

func (d *database) did(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = append(d.done, what)
}

func (d *database) AutoBackup(ctx context.Context, _ int, _ time.Duration) (bool, error) {
	select {
	case <-time.After(d.backup):
		d.did("backup")
		return true, nil
	case <-ctx.Done():
		d.did("part of a backup")
		return false, ctx.Err()
	}
}

func (d *database) PostponeBackup(context.Context) error { d.did("postponed"); return nil }
func (d *database) IndexWhole(context.Context) error     { d.did("index"); return nil }

// TestUpkeepDelaysNoEndForLong runs programs of different lengths on small and large
// databases.
func TestUpkeepDelaysNoEndForLong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	for path, size := range map[string]int64{small: 1000, large: 40 << 20} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		path       string
		keep       int
		age        time.Duration // of the newest backup; 0 is none
		takes, run time.Duration
		want       string
		end        time.Duration // how long the end takes
	}{
		"a long run":                       {small, 2, time.Hour, time.Second, time.Minute, "backup index", 0},
		"a short run":                      {small, 2, time.Hour, time.Second, time.Second, "backup index", time.Second},
		"a short run and a slow disk":      {small, 2, time.Hour, time.Minute, time.Second, "part of a backup, index", 2 * time.Second},
		"a short run on a large one":       {large, 2, time.Hour, time.Second, time.Second, "", 0},
		"a long run on a large one":        {large, 2, time.Hour, time.Second, time.Minute, "backup index", 0},
		"the copy of a large one is ended": {large, 2, time.Hour, time.Minute, 20 * time.Second, "part of a backup, index", 0},
		"a large one without a backup":     {large, 2, 0, time.Second, 500 * time.Millisecond, "backup", 500 * time.Millisecond},
		"a large one that is never copied": {large, 2, 0, time.Minute, time.Second, "part of a backup, postponed", 2 * time.Second},
		"an old backup of a large one":     {large, 2, 100 * time.Hour, time.Second, 500 * time.Millisecond, "backup", 500 * time.Millisecond},
		"no backups":                       {large, 0, 0, time.Second, time.Minute, "index", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := &database{backup: tt.takes}
			stop := upkeep.Start(db, upkeep.Config{
				Path: tt.path, Keep: tt.keep, Every: 24 * time.Hour, Log: slog.New(slog.DiscardHandler),
				Newest: func() (time.Time, error) {
					if tt.age == 0 {
						return time.Time{}, nil
					}
					return time.Now().Add(-tt.age), nil
				},
			})
			time.Sleep(tt.run)
			before := time.Now()
			if err := stop(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if took := time.Since(before); took != tt.end {
				t.Errorf("%s: the end took %v, want %v", name, took, tt.end)
			}
			if got := strings.Join(db.done, " "); got != strings.ReplaceAll(tt.want, ",", "") {
				t.Errorf("%s: done is %q, want %q", name, got, tt.want)
			}
		})
	}
}

func TestChoresAreDoneInOrder(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk full")
	for want, ends := range map[string][]error{
		"a b c":   {nil, nil, nil},
		"a b c !": {nil, broken, nil},
		"a b":     {nil, upkeep.ErrNotDue, nil},
		"a b !":   {nil, errors.Join(broken, upkeep.ErrNotDue), nil},
	} {
		var did []string
		var chores []upkeep.Chore
		for i, name := range []string{"a", "b", "c"} {
			chores = append(chores, upkeep.Chore{Name: name, Do: func(context.Context) error {
				did = append(did, name)
				return ends[i]
			}})
		}
		var log strings.Builder
		upkeep.Tidy(slog.New(slog.NewTextHandler(&log, nil)), chores)
		if strings.Contains(log.String(), "msg=b") && strings.Contains(log.String(), "disk full") {
			did = append(did, "!")
		}
		if got := strings.Join(did, " "); got != want {
			t.Errorf("done is %q, want %q, logged %s", got, want, log.String())
		}
	}
}

func TestSweepRemovesWhatKilledProcessesLeft(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "skills", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(top, "skills", "a", "SKILL.md")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	upkeep.Sweep(top)
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// used is a store whose last session is this one.
type used []hermes.Session

func (u used) ListSessions(context.Context, hermes.SessionFilter) ([]hermes.Session, error) {
	if slices.ContainsFunc(u, func(s hermes.Session) bool { return s.ID == "broken" }) {
		return nil, errors.New("disk full")
	}
	return u, nil
}

func TestUnused(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	long := 100 * 365 * 24 * time.Hour
	for name, tt := range map[string]struct {
		store    used
		from, to time.Duration
	}{
		"no session":          {nil, long, 1 << 62},
		"a message":           {used{{Started: now.Add(-time.Hour), Active: now.Add(-time.Minute)}}, time.Minute, time.Minute},
		"a session without":   {used{{Started: now.Add(-time.Hour)}}, time.Hour, time.Hour},
		"a clock was set":     {used{{Started: now.Add(time.Hour)}}, long, 1 << 62},
		"a store that failed": {used{{ID: "broken"}}, 0, 0},
	} {
		if got := upkeep.Unused(t.Context(), tt.store, now); got < tt.from || got > tt.to {
			t.Errorf("%s: %v", name, got)
		}
	}
}
