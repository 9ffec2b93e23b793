package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/store/sqlite"
)

// link makes a link, or skips the test where that needs rights.
func link(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Skip(err)
	}
}

// TestALinkThatLeadsNowhereMakesNoDatabase: its disk may not be mounted.
func TestALinkThatLeadsNowhereMakesNoDatabase(t *testing.T) {
	t.Parallel()
	for name, to := range map[string]string{"a missing file": "missing.db", "a missing folder": filepath.Join("missing", "hermes.db"), "itself": "hermes.db"} {
		dir := t.TempDir()
		cfg := sqlite.Config{Path: filepath.Join(dir, "hermes.db")}
		link(t, to, cfg.Path)
		_, opened := sqlite.Open(t.Context(), cfg)
		_, read := sqlite.OpenReadOnly(t.Context(), cfg)
		_, repaired := sqlite.Repair(t.Context(), cfg)
		for _, err := range []error{opened, read, repaired} {
			if err == nil || !strings.Contains(err.Error(), "is a link to "+to+", which cannot be reached") || !strings.Contains(err.Error(), "remove the link") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got, err := os.Readlink(cfg.Path); err != nil || got != to {
			t.Errorf("%s: the link is %q, %v", name, got, err)
		}
		if list, _ := os.ReadDir(dir); len(list) != 1 {
			t.Errorf("%s: left behind: %v", name, list)
		}
	}
}

// TestALinkedDatabaseStaysWhereItIs: also for what is read beside it and for a repair.
func TestALinkedDatabaseStaysWhereItIs(t *testing.T) {
	t.Parallel()
	real, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(real, "sessions.db")
	cfg := sqlite.Config{Path: filepath.Join(t.TempDir(), "hermes.db")}
	s := filled(t, sqlite.Config{Path: file}, 3, 4)
	link(t, file, cfg.Path)
	r, err := sqlite.OpenReadOnly(t.Context(), cfg) // the log has changes
	if err != nil {
		t.Fatal(err)
	}
	if n := len(mustMessages(t, r, "s02")); n != 4 {
		t.Errorf("%d messages", n)
	}
	if err := errors.Join(r.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	report, err := sqlite.Repair(t.Context(), cfg)
	if err != nil || report.Messages != 12 || filepath.Dir(report.Kept) != real {
		t.Fatalf("%+v, %v", report, err)
	}
	s = mustOpen(t, cfg)
	mustAppend(t, s, "s00", hermes.UserText("after the repair"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(cfg.Path); err != nil || to != file {
		t.Errorf("the link is %q, %v", to, err)
	}
	if n := len(mustMessages(t, mustOpen(t, sqlite.Config{Path: file}), "s00")); n != 5 {
		t.Errorf("%d messages where the link leads", n)
	}
	if list, _ := os.ReadDir(filepath.Dir(cfg.Path)); len(list) != 1 {
		t.Errorf("beside the link: %v", list)
	}
}

// TestReadingNamesTheFolderForCopies: what to do if it does not take one, and only then;
// half of a copy does not stay.
func TestReadingNamesTheFolderForCopies(t *testing.T) {
	temp := t.TempDir()
	name := "TMPDIR"
	if runtime.GOOS == "windows" {
		name = "TMP"
	}
	path := tempPath(t)
	s := filled(t, sqlite.Config{Path: path}, 1, 4)
	defer s.Close()
	t.Setenv(name, filepath.Join(temp, "missing"))
	_, err := sqlite.OpenReadOnly(t.Context(), sqlite.Config{Path: path})
	if err == nil || !strings.Contains(err.Error(), "(set "+name+" to use another folder than "+filepath.Join(temp, "missing")+")") {
		t.Errorf("a missing folder: %v", err)
	}
	t.Setenv(name, temp)
	odd := tempPath(t)
	if err := errors.Join(os.WriteFile(odd, content(t, path), 0o600), os.Mkdir(odd+"-wal", 0o700), os.WriteFile(filepath.Join(odd+"-wal", "x"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.OpenReadOnly(t.Context(), sqlite.Config{Path: odd}); runtime.GOOS != "windows" && err == nil {
		t.Error("a log that is a folder was read")
	}
	if list, _ := os.ReadDir(temp); len(list) != 0 {
		t.Errorf("left behind: %v", list)
	}
}
