package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/store/sqlite"
)

// filled makes a database of sessions with messages, some long, one session deleted.
func filled(t *testing.T, cfg sqlite.Config, sessions, each int) *sqlite.Store {
	t.Helper()
	s := mustOpen(t, cfg)
	for i := range sessions {
		id := fmt.Sprintf("s%02d", i)
		if err := s.CreateSession(t.Context(), hermes.Session{ID: id, Started: start, System: "You are Hermes.", Title: "title " + id}); err != nil {
			t.Fatal(err)
		}
		list := make([]hermes.Message, each)
		for j := range list {
			list[j] = hermes.UserText(fmt.Sprintf("token%dx%d %s", i, j, strings.Repeat("filler ", 60)))
			if j == 3 {
				list[j] = hermes.UserText(fmt.Sprintf("token%dx%d %s", i, j, strings.Repeat("long filler 上海 ", 2000)))
			}
		}
		mustAppend(t, s, id, list...)
	}
	if err := s.CreateSession(t.Context(), hermes.Session{ID: "deleted", Started: start}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, "deleted", hermes.UserText("a deletedsecret"), hermes.UserText(strings.Repeat("more of the deletedsecret ", 400)))
	if err := s.DeleteSession(t.Context(), "deleted"); err != nil {
		t.Fatal(err)
	}
	return s
}

const pageSize = 4096

// overwrite damages pages; the first is 1.
func overwrite(t *testing.T, path string, pages ...int) {
	t.Helper()
	b := content(t, path)
	for _, n := range pages {
		copy(b[(n-1)*pageSize:n*pageSize], bytes.Repeat([]byte{0xaa}, pageSize))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// rootOf is the page where a table begins.
func rootOf(t *testing.T, path, table string) (root int) {
	t.Helper()
	db := raw(t, path)
	defer db.Close()
	if err := db.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = ?`, table).Scan(&root); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestRepairKeepsMessagesWithoutTheSchema: whichever page above the rows is hit.
func TestRepairKeepsMessagesWithoutTheSchema(t *testing.T) {
	t.Parallel()
	const sessions, each = 12, 8
	for name, hit := range map[string]func(t *testing.T, path string){
		"the first page":               func(t *testing.T, path string) { overwrite(t, path, 1) },
		"the first page and the map":   func(t *testing.T, path string) { overwrite(t, path, 1, 2) },
		"the beginning of messages":    func(t *testing.T, path string) { overwrite(t, path, rootOf(t, path, "messages")) },
		"the header alone":             func(t *testing.T, path string) { scribble(t, path, 0, 100) },
		"the numbers of the header":    func(t *testing.T, path string) { scribble(t, path, 60, 72) },
		"the list of tables, in part":  func(t *testing.T, path string) { scribble(t, path, 100, pageSize) },
		"the rest of the list, beyond": func(t *testing.T, path string) { overwriteSchemaLeaf(t, path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := tempPath(t)
			if err := filled(t, sqlite.Config{Path: path}, sessions, each).Close(); err != nil {
				t.Fatal(err)
			}
			hit(t, path)
			report, err := sqlite.Repair(t.Context(), sqlite.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if report.Sessions < sessions || report.Messages < sessions*each {
				t.Errorf("repaired: %+v, want %d sessions and %d messages", report, sessions, sessions*each)
			}
			s := mustOpen(t, sqlite.Config{Path: path})
			for i := range sessions {
				id := fmt.Sprintf("s%02d", i)
				row, err := s.FindSession(t.Context(), id)
				if err != nil || row.Title != "title "+id || row.System != "You are Hermes." {
					t.Errorf("the row of %s: %+v, %v", id, row, err)
					continue
				}
				list := mustMessages(t, s, id)
				if len(list) != each || !strings.HasPrefix(list[each-1].Text(), fmt.Sprintf("token%dx%d ", i, each-1)) || len(list[3].Text()) < 30_000 {
					t.Errorf("%s has %d messages", id, len(list))
				}
			}
			if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "token7x3 AND 上海"}); err != nil || len(hits) != 1 {
				t.Errorf("%d hits, %v", len(hits), err)
			}
			if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "deletedsecret"}); name != "the first page and the map" && (err != nil || len(hits) != 0) {
				t.Errorf("%d deleted messages came back, %v", len(hits), err)
			}
			if err := s.Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

func scribble(t *testing.T, path string, from, to int) {
	t.Helper()
	b := content(t, path)
	copy(b[from:to], bytes.Repeat([]byte{0xaa}, to-from))
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// overwriteSchemaLeaf damages a page of the list of tables that is not the first page.
func overwriteSchemaLeaf(t *testing.T, path string) {
	t.Helper()
	b := content(t, path)
	at := bytes.LastIndex(b, []byte("CREATE TABLE messages"))
	if at < 0 {
		t.Fatal("the schema is not in the file")
	}
	overwrite(t, path, at/pageSize+1)
}

// TestRepairReadsTheLog: after a kill the newest messages are only there.
func TestRepairReadsTheLog(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := filled(t, sqlite.Config{Path: path, AutoCheckpoint: 1 << 20}, 4, 6)
	killed := filepath.Join(t.TempDir(), "hermes.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := os.WriteFile(killed+suffix, content(t, path+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if info, err := os.Stat(killed + "-wal"); err != nil || info.Size() < 100_000 {
		t.Fatalf("the log is small: %v, %v", info, err)
	}
	overwrite(t, killed, 1)
	report, err := sqlite.Repair(t.Context(), sqlite.Config{Path: killed})
	if err != nil || report.Sessions != 4 || report.Messages != 24 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestRepairTakesLostRowsFromABackup: and only those; what was deleted since stays away.
func TestRepairTakesLostRowsFromABackup(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	cfg := sqlite.Config{Path: path, Backups: filepath.Join(t.TempDir(), "copies")}
	s := filled(t, cfg, 40, 25)
	if did, err := s.AutoBackup(t.Context(), 3, time.Hour); err != nil || !did {
		t.Fatal(did, err)
	}
	mustAppend(t, s, "s39", hermes.UserText("after the backup"))
	if err := s.DeleteSession(t.Context(), "s05"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	damage(t, path)
	report, err := sqlite.Repair(t.Context(), cfg)
	if err != nil || report.FromBackup == 0 || report.Backup == "" || report.Sessions != 39 || report.Messages != 39*25+1 {
		t.Fatalf("%+v, %v", report, err)
	}
	s = mustOpen(t, cfg)
	if _, err := s.FindSession(t.Context(), "s05"); !errors.Is(err, hermes.ErrNotFound) {
		t.Errorf("a deleted session came back: %v", err)
	}
	if hits, err := s.Search(t.Context(), hermes.SearchQuery{Text: "token20x5"}); err != nil || len(hits) != 1 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	if list := mustMessages(t, s, "s39"); len(list) != 26 {
		t.Errorf("%d messages", len(list))
	}
}

// TestAnEmptyFileIsNotANewOne: it is not changed, and a repair takes the last backup.
func TestAnEmptyFileIsNotANewOne(t *testing.T) {
	t.Parallel()
	cfg := sqlite.Config{Path: tempPath(t), Backups: filepath.Join(t.TempDir(), "copies")}
	for _, backup := range []bool{false, true} {
		if backup {
			s := filled(t, cfg, 3, 4)
			if did, err := s.AutoBackup(t.Context(), 3, time.Hour); err != nil || !did {
				t.Fatal(did, err)
			}
			s.Close()
		}
		if err := os.WriteFile(cfg.Path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := sqlite.Open(t.Context(), cfg); !errors.Is(err, sqlite.ErrEmpty) || !strings.Contains(err.Error(), "hermes sessions repair") {
			t.Fatalf("an empty file: %v", err)
		}
		if n := len(content(t, cfg.Path)); n != 0 {
			t.Errorf("the empty file has %d bytes now", n)
		}
		report, err := sqlite.Repair(t.Context(), cfg)
		if err != nil || backup != (report.Messages == 12) || backup != (report.Backup != "") {
			t.Errorf("backup %v: %+v, %v", backup, report, err)
		}
		s := mustOpen(t, cfg)
		stats, err := s.Stats(t.Context())
		if err != nil || backup != (stats.Sessions == 3) {
			t.Errorf("backup %v: %+v, %v", backup, stats, err)
		}
		s.Close()
		if err := os.Remove(cfg.Path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBackupsRotate: one each period, private, complete or not there, the newest kept.
func TestBackupsRotate(t *testing.T) {
	t.Parallel()
	now := start
	// The name of the folder looks like a pattern.
	cfg := sqlite.Config{Path: tempPath(t), Backups: filepath.Join(t.TempDir(), "copies [1]"), Now: func() time.Time { return now }}
	s := filled(t, cfg, 2, 2)
	for i := range 6 {
		if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || !did {
			t.Fatal(i, did, err)
		}
		if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || did {
			t.Fatal("two in one period", did, err)
		}
		now = now.Add(25 * time.Hour)
		half := filepath.Join(cfg.Backups, "hermes-20200101-000000.db.part") // of a process that was killed
		if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(half, old, old); err != nil {
			t.Fatal(err)
		}
	}
	mustAppend(t, s, "s00", hermes.UserText("the last"))
	if did, err := s.AutoBackup(t.Context(), 3, 24*time.Hour); err != nil || !did {
		t.Fatal(did, err)
	}
	all, err := os.ReadDir(cfg.Backups)
	if err != nil || len(all) != 3 {
		t.Errorf("%v, %v", all, err)
	}
	list, err := cfg.BackupFiles()
	if err != nil || len(list) != 3 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, path := range list {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	copied := mustOpen(t, sqlite.Config{Path: list[0]})
	if list := mustMessages(t, copied, "s00"); len(list) != 3 {
		t.Errorf("the newest backup has %d messages", len(list))
	}
	for _, keep := range []int{0, -1} {
		now = now.Add(48 * time.Hour)
		if did, err := s.AutoBackup(t.Context(), keep, time.Hour); err != nil || did {
			t.Errorf("keep %d: %v, %v", keep, did, err)
		}
	}
}

// TestReadingNeedsNoWriting: also what only the log has is read, and nothing is made beside
// the file.
func TestReadingNeedsNoWriting(t *testing.T) {
	t.Parallel()
	path := tempPath(t)
	s := filled(t, sqlite.Config{Path: path}, 3, 4)
	killed := filepath.Join(t.TempDir(), "hermes.db") // with a log
	for _, suffix := range []string{"", "-wal"} {
		if err := os.WriteFile(killed+suffix, content(t, path+suffix), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	for _, path := range []string{path, killed} {
		folder := filepath.Dir(path)
		before, _ := os.ReadDir(folder)
		r, err := sqlite.OpenReadOnly(t.Context(), sqlite.Config{Path: path})
		if err != nil {
			t.Fatal(err)
		}
		if list := mustMessages(t, r, "s02"); len(list) != 4 {
			t.Errorf("%d messages", len(list))
		}
		if hits, err := r.Search(t.Context(), hermes.SearchQuery{Text: "token1x1"}); err != nil || len(hits) != 1 {
			t.Errorf("%d hits, %v", len(hits), err)
		}
		if _, err := r.Commit(t.Context(), hermes.Lease{Session: "s00"}, hermes.Change{Append: []hermes.Message{hermes.UserText("x")}}); !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("a write: %v", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if after, _ := os.ReadDir(folder); len(after) != len(before) {
			t.Errorf("the folder had %v and has %v", before, after)
		}
	}
	if _, err := sqlite.OpenReadOnly(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a missing file was opened")
	}
}

// BenchmarkBackup copies the corpus.
func BenchmarkBackup(b *testing.B) {
	s := corpus(b, corpusSize(b))
	stats, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	to := filepath.Join(b.TempDir(), "copy.db")
	for b.Loop() {
		if err := s.Backup(b.Context(), to); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(to); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(stats.FileBytes)
	b.ReportMetric(float64(stats.FileBytes)/(1<<20), "file-MB")
}
