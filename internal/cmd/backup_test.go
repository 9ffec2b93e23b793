package cmd_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes/internal/chatserver"
)

// TestSessionsComeBackFromTheBackup: a run makes one without being asked, the next runs of
// the day make none, and a repair takes it when the database was emptied.
func TestSessionsComeBackFromTheBackup(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "a zebra"}, nil
	})...)
	for range 3 {
		if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
	}
	made, err := filepath.Glob(filepath.Join(p.home, "backups", "database", "*"))
	if err != nil || len(made) != 1 {
		t.Fatalf("backups %v, %v", made, err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(filepath.Join(p.home, "hermes.db"+suffix))
	}
	if err := os.WriteFile(filepath.Join(p.home, "hermes.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-z", "hello", "-m", "played"}, {"sessions", "list"}, {"doctor"}} {
		if out, errs, status := p.run(args...); status != 1 || !strings.Contains(out+errs, "hermes sessions repair") {
			t.Errorf("%q: status %d: %s%s", args, status, out, errs)
		}
	}
	if out, errs, status := p.run("sessions", "repair"); status != 0 || !strings.Contains(out, "from the backup") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	if out, errs, status := p.run("sessions", "search", "zebra"); status != 0 || !strings.Contains(out, "zebra") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// TestNoBackupsWhereTheSettingSaysSo is the effect of database.backups.
func TestNoBackupsWhereTheSettingSaysSo(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "a zebra"}, nil
	})...)
	p.configure("database: {backups: 0}\n")
	if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	if made, err := filepath.Glob(filepath.Join(p.home, "backups", "database", "*")); err != nil || len(made) != 0 {
		t.Errorf("backups %v, %v", made, err)
	}
}

// TestALargeDatabaseDelaysNoEnd: nobody waits for its copy after a short answer, unless
// short runs missed several.
func TestALargeDatabaseDelaysNoEnd(t *testing.T) {
	t.Parallel()
	p := newUser(t, serve(t, func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "a zebra"}, nil
	})...)
	p.configure("database: {backups: 0}\n")
	if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	if err := os.Truncate(filepath.Join(p.home, "hermes.db"), 64<<20); err != nil { // SQLite does not count the rest
		t.Fatal(err)
	}
	p.configure("database: {backups: 3}\n")
	folder := filepath.Join(p.home, "backups", "database")
	for _, last := range []struct {
		hours int // since the last backup; 0: there is none
		want  int // new ones
	}{{25, 0}, {70, 0}, {80, 1}, {0, 1}} {
		if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o700)); err != nil {
			t.Fatal(err)
		}
		before := 0
		if last.hours > 0 {
			before = 1
			at := time.Now().Add(-time.Duration(last.hours) * time.Hour)
			if err := os.WriteFile(filepath.Join(folder, at.Format("hermes-20060102-150405.db")), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.due()
		if _, errs, status := p.run("-z", "hello", "-m", "played"); status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		if err := os.Truncate(filepath.Join(p.home, "hermes.db"), 64<<20); err != nil {
			t.Fatal(err)
		}
		if made, err := os.ReadDir(folder); err != nil || len(made) != before+last.want {
			t.Errorf("%d hours after the last: backups %v, %v", last.hours, made, err)
		}
	}
}

// due makes the next backup of the database due.
func (p *user) due() {
	p.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(p.home, "hermes.db"))
	if err != nil {
		p.t.Fatal(err)
	}
	_, err = db.Exec(`DELETE FROM meta WHERE name = 'backed_up'`)
	if err := errors.Join(err, db.Close()); err != nil {
		p.t.Fatal(err)
	}
}
