package sqlite

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
)

// later is our schema with one more migration.
func later(t *testing.T, path, migration string) Config {
	t.Helper()
	steps, err := Config{}.steps()
	if err != nil {
		t.Fatal(err)
	}
	return Config{Path: path, migrations: append(steps, migration)}
}

func mustHave(t *testing.T, cfg Config, id string) {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.FindSession(t.Context(), id); err != nil {
		t.Error(err)
	}
}

func oldFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hermes.db")
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "a", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAMigrationKeepsACopy(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	cfg := later(t, path, `CREATE TABLE extra (x); ALTER TABLE sessions ADD COLUMN more TEXT`)
	mustHave(t, cfg, "a")
	mustHave(t, cfg, "a") // the second time there is nothing to do
	copied := BackupPath(path, len(cfg.migrations)-1)
	mustHave(t, Config{Path: copied}, "a")
	_, err := Open(t.Context(), Config{Path: path})
	if !errors.Is(err, ErrNewer) {
		t.Errorf("the old program opens the new file: %v", err)
	}
	db, err := sql.Open("sqlite", "file:"+copied)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`SELECT * FROM extra`); err == nil {
		t.Error("the copy has the new schema")
	}
}

func TestAFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	_, err := Open(t.Context(), later(t, path, `CREATE TABLE extra (x); DROP TABLE sessions; SELECT broken`))
	if err == nil || !strings.Contains(err.Error(), "from schema") {
		t.Errorf("got %v", err)
	}
	mustHave(t, Config{Path: path}, "a")
}

func TestAFreshFileNeedsNoCopyAndIsPrivate(t *testing.T) {
	t.Parallel()
	path := oldFile(t)
	if _, err := os.Stat(BackupPath(path, 0)); err == nil {
		t.Error("an empty file was copied")
	}
	info, err := os.Stat(path)
	if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}

func TestOneFaultyWriteDoesNotSpoilItsBatch(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Config{Path: filepath.Join(t.TempDir(), "hermes.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	refused := errors.New("refused")
	insert := func(name string, then error) *job {
		return &job{ctx: t.Context(), done: make(chan error, 1), run: func(t *tx) error {
			if err := t.exec(`INSERT INTO meta (name, value) VALUES (?, '')`, name); err != nil {
				return err
			}
			return then
		}}
	}
	broken := &job{ctx: t.Context(), done: make(chan error, 1), run: func(t *tx) error { return t.exec(`SELECT broken`) }}
	batch := []*job{insert("a", nil), insert("b", refused), broken, insert("c", nil), insert("a", nil)}
	// The writer's own goroutine is idle: it got no job.
	s.w.answer(batch)
	for i, ok := range []bool{true, false, false, true, false} {
		if err := <-batch[i].done; (err == nil) != ok {
			t.Errorf("job %d: %v", i, err)
		}
	}
	var names string
	err = s.read.QueryRow(`SELECT group_concat(name, '') FROM (SELECT name FROM meta ORDER BY name)`).Scan(&names)
	if err != nil || names != "ac" {
		t.Errorf("stored are %q, %v", names, err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for _, cfg := range []Config{{}, {Path: "x", Journal: "memory"}, {Path: "x", Synchronous: "fast"}} {
		if _, err := Open(t.Context(), cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
	odd := filepath.Join(t.TempDir(), "a b?c#d%20é", "hermes.db")
	for range 2 {
		s, err := Open(t.Context(), Config{Path: odd, Journal: "delete", Synchronous: "full"})
		if err != nil {
			t.Fatal(err)
		}
		var mode string
		if err := s.read.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
			t.Errorf("the journal is %q, %v", mode, err)
		}
		s.Close()
	}
	if _, err := os.Stat(odd); err != nil {
		t.Error(err)
	}
}

// TestLeasesOfAnEarlierVersionAreKept opens a file from before leases had an address.
func TestLeasesOfAnEarlierVersionAreKept(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "hermes.db")
	steps, err := Config{}.steps()
	if err != nil {
		t.Fatal(err)
	}
	old, err := Open(t.Context(), Config{Path: path, migrations: steps[:14]})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.update(t.Context(), func(t *tx) error {
		err := t.exec(`INSERT INTO sessions (key, id, source, started) VALUES (1, 'a', 'cli', 1)`)
		return errors.Join(err, t.exec(`INSERT INTO leases (session, owner, fence, expires) VALUES (1, 'before', 7, ?)`, nanos(time.Now().Add(time.Hour))))
	}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Leases(t.Context())
	if err != nil || len(list) != 1 || list[0].Owner != "before" || list[0].Fence != 7 || list[0].Address != "" {
		t.Errorf("the leases are %+v, %v", list, err)
	}
	if _, err := s.Acquire(t.Context(), "a", hermes.Owner{Name: "me"}, time.Hour); !errors.Is(err, hermes.ErrLeased) {
		t.Errorf("got %v", err)
	}
	l := hermes.Lease{Session: "a", Fence: 7}
	if err := s.SaveQuestion(t.Context(), l, hermes.StoredQuestion{Asked: hermes.Asked{ID: "7.1"}}); err != nil {
		t.Error(err)
	}
	if open, err := s.OpenQuestions(t.Context(), hermes.QuestionFilter{}); err != nil || len(open) != 1 {
		t.Errorf("open are %+v, %v", open, err)
	}
}
