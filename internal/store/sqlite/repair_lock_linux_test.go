package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRepairKeepsTheFileLocked: reading its pages must not drop the lock that keeps other
// processes from writing what the repair would not take along.
func TestRepairKeepsTheFileLocked(t *testing.T) {
	t.Parallel()
	cfg, err := Config{Path: filepath.Join(t.TempDir(), "hermes.db")}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fresh := cfg
	fresh.Path += ".repairing"
	r := repair{cfg: cfg}
	if r.new, err = Open(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	defer r.new.Close()
	db, err := sql.Open("sqlite", cfg.dsn("locking_mode(exclusive)"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN EXCLUSIVE; ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	// A lock of an open file sees those of the process, as another process would.
	f, err := os.OpenFile(cfg.Path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	locked := func() bool {
		look := unix.Flock_t{Type: unix.F_WRLCK, Start: 0x40000000, Len: 512} // where SQLite locks
		if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &look); err != nil {
			t.Skip(err)
		}
		return look.Type != unix.F_UNLCK
	}
	if !locked() {
		t.Fatal("the file is not locked before")
	}
	if _, err := r.salvagePages(t.Context(), names(copiedTables())); err != nil {
		t.Fatal(err)
	}
	if !locked() {
		t.Error("the file is not locked any more")
	}
	r.file.Close()
}
