package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store"
	"hermes/internal/store/sqlite"
)

// TestABackupThatWasEndedIsDue: a program that ends during a copy does not cost the
// backup of the day, and leaves no half of one.
func TestABackupThatWasEndedIsDue(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	folder := filepath.Join(filepath.Dir(path), "backups")
	ended, end := context.WithCancel(t.Context())
	asked, cfg := 0, sqlite.Config{Path: path, Backups: folder}
	watching := cfg
	watching.Now = func() time.Time {
		if asked++; asked == 2 { // first to find out whether it is due, then for the name
			end()
		}
		return time.Now()
	}
	s := filled(t, cfg, 1, 4)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, watching)
	if did, err := s.AutoBackup(ended, 3, time.Hour); did || err == nil {
		t.Fatalf("the first was not ended: %v, %v", did, err)
	}
	if files, err := filepath.Glob(filepath.Join(folder, "*")); err != nil || len(files) != 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	if did, err := s.AutoBackup(t.Context(), 3, time.Hour); !did || err != nil {
		t.Errorf("the next call: %v, %v", did, err)
	}
	if did, err := s.AutoBackup(t.Context(), 3, time.Hour); did || err != nil {
		t.Errorf("the third call: %v, %v", did, err)
	}
}

// TestAPostponedBackupWaitsForItsPeriod, and names say when copies were begun.
func TestAPostponedBackupWaitsForItsPeriod(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)
	cfg := sqlite.Config{Path: tempPath(t), Backups: filepath.Join(t.TempDir(), "copies"), Now: func() time.Time { return now }}
	s := filled(t, cfg, 1, 2)
	if err := s.PostponeBackup(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{false, true} {
		if did, err := s.AutoBackup(t.Context(), 3, time.Hour); err != nil || did != want {
			t.Errorf("%v, %v, want %v", did, err, want)
		}
		now = now.Add(time.Hour)
	}
	list, err := cfg.BackupFiles()
	newest, newestErr := cfg.NewestBackup()
	if err != nil || newestErr != nil || len(list) != 1 || !newest.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v, %v", list, err)
	}
}

// TestAClockThatIsSetBackStopsNoBackups: what was done in the future is due, and its copies
// are the first to go.
func TestAClockThatIsSetBackStopsNoBackups(t *testing.T) {
	t.Parallel()
	now := start.AddDate(10, 0, 0)
	cfg := sqlite.Config{Path: tempPath(t), Backups: filepath.Join(t.TempDir(), "copies"), Now: func() time.Time { return now }}
	s := filled(t, cfg, 2, 2)
	for range 3 {
		if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || !did {
			t.Fatal(did, err)
		}
		if did, err := s.AutoPrune(t.Context(), store.Retention{Platform: "none"}, 24*time.Hour); err != nil || !did {
			t.Fatal(did, err)
		}
		now = now.Add(25 * time.Hour)
	}
	for _, now = range []time.Time{start, start.Add(25 * time.Hour)} {
		mustAppend(t, s, "s00", hermes.UserText("after the clock was set back"))
		if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || !did {
			t.Errorf("no backup: %v, %v", did, err)
		}
		if did, err := s.AutoPrune(t.Context(), store.Retention{Platform: "none"}, 24*time.Hour); err != nil || !did {
			t.Errorf("nothing pruned: %v, %v", did, err)
		}
		if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || did {
			t.Errorf("two in one period: %v, %v", did, err)
		}
	}
	list, err := cfg.BackupFiles()
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	newest := mustOpen(t, sqlite.Config{Path: list[0]})
	if n := len(mustMessages(t, newest, "s00")); n != 4 {
		t.Errorf("the newest backup has %d messages", n)
	}
}
