package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/store/sqlite"
)

// raw opens a file without the store.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// lock keeps others from writing until the returned func is called.
func lock(t *testing.T, path string) func() {
	t.Helper()
	db := raw(t, path)
	mustExec(t, db, "BEGIN IMMEDIATE")
	return func() { mustExec(t, db, "ROLLBACK") }
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAFullDiskKeepsWhatIsStored(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path, MaxPages: 120})
	mustCreate(t, s, "a")
	stored := 0
	var err error
	for err == nil && stored < 1000 {
		if _, err = s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText(fmt.Sprint("word", stored, strings.Repeat(" filler", 300)))}}); err == nil {
			stored++
		}
	}
	if !errors.Is(err, sqlite.ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("after %d messages: %v", stored, err)
	}
	if list := mustMessages(t, s, "a"); len(list) != stored {
		t.Errorf("%d messages are there, %d were stored", len(list), stored)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = mustOpen(t, sqlite.Config{Path: path})
	mustAppend(t, s, "a", hermes.UserText("there is room again"))
	row, err := s.FindSession(t.Context(), "a")
	if err != nil || row.Messages != stored+1 {
		t.Errorf("%d messages are counted, want %d; %v", row.Messages, stored+1, err)
	}
}

func TestAFileThatIsNotADatabaseIsNotChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, path string)
		want error
		says string
	}{
		{"rubbish", func(t *testing.T, path string) {
			if err := os.WriteFile(path, bytes.Repeat([]byte("rubbish "), 1000), 0o600); err != nil {
				t.Fatal(err)
			}
		}, sqlite.ErrCorrupt, "hermes sessions repair"},
		{"another program's", func(t *testing.T, path string) {
			mustExec(t, raw(t, path), "CREATE TABLE schema_version (version); INSERT INTO schema_version VALUES (11)")
		}, sqlite.ErrForeign, "was not changed; move it away"},
		{"a newer one", func(t *testing.T, path string) {
			s := mustOpen(t, sqlite.Config{Path: path})
			mustCreate(t, s, "a")
			s.Close()
			mustExec(t, raw(t, path), "PRAGMA user_version = 999")
		}, sqlite.ErrNewer, "Update Hermes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := tempPath(t)
			c.make(t, path)
			db := raw(t, path)
			_, _ = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			db.Close()
			before := content(t, path)
			_, err := sqlite.Open(t.Context(), sqlite.Config{Path: path})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if !bytes.Equal(content(t, path), before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestADamagedFileIsRepairedAndKept(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	const sessions, each = 40, 25
	for i := range sessions {
		id := fmt.Sprintf("s%02d", i)
		mustCreate(t, s, id)
		list := make([]hermes.Message, each)
		for j := range list {
			list[j] = hermes.UserText(fmt.Sprintf("token%dx%d %s", i, j, strings.Repeat("filler ", 60)))
		}
		mustAppend(t, s, id, list...)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path)
	damaged := content(t, path)

	s = mustOpen(t, sqlite.Config{Path: path})
	if err := s.Check(t.Context()); !errors.Is(err, sqlite.ErrCorrupt) {
		t.Errorf("the check of a damaged file says %v", err)
	}
	if _, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path, Busy: 1}); !errors.Is(err, sqlite.ErrBusy) {
		t.Errorf("a repair while the file is open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	if report.Sessions != sessions || report.Lost == 0 || report.Messages < sessions*each*8/10 || report.Messages == sessions*each {
		t.Errorf("repaired: %+v", report)
	}
	if !bytes.Equal(content(t, report.Kept), damaged) {
		t.Error("the damaged file was changed")
	}
	s = mustOpen(t, sqlite.Config{Path: path})
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Messages != report.Messages {
		t.Errorf("%+v, %v", stats, err)
	}
	hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "token39x24"})
	if err != nil || len(hits) != 1 || hits[0].Session.ID != "s39" {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	mustAppend(t, s, "s39", hermes.UserText("it goes on"))
}

// damage overwrites a leaf in the middle of the messages.
func damage(t *testing.T, path string) {
	t.Helper()
	b := content(t, path)
	const page = 4096
	at := bytes.Index(b, []byte("token20x5 "))
	if at < 0 {
		t.Fatal("the text is not in the file")
	}
	at -= at % page
	copy(b[at:at+page], bytes.Repeat([]byte{0xaa}, page))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRepairOfASoundFileLosesNothing(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := mustOpen(t, sqlite.Config{Path: path})
	mustCreate(t, s, "a")
	mustAppend(t, s, "a", hermes.UserText("one"), hermes.UserText("two"), hermes.UserText("上海"))
	if err := s.Rewind(t.Context(), hermes.Lease{Session: "a"}, 2); err != nil {
		t.Fatal(err)
	}
	before, _ := s.FindSession(t.Context(), "a")
	s.Close()
	report, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path})
	if err != nil || report.Sessions != 1 || report.Messages != 3 || report.Lost != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	s = mustOpen(t, sqlite.Config{Path: path})
	after, err := s.FindSession(t.Context(), "a")
	if err != nil || after.Messages != before.Messages || !after.Active.Equal(before.Active) && after.Active.After(before.Active) {
		t.Errorf("the row was %+v and is %+v, %v", before, after, err)
	}
	if _, err := sqlite.Repair(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a missing file was repaired")
	}
}

func TestClosedStoreRefuses(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, sqlite.Config{Path: tempPath(t)})
	mustCreate(t, s, "a")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Commit(t.Context(), hermes.Lease{Session: "a"}, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}}); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
