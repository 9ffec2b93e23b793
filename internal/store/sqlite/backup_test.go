package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

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
