package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver

	"hermes/internal/liveness"
	"hermes/internal/store"
)

var _ store.Database = (*Store)(nil)

// Store is an open database. Its methods may be called concurrently.
type Store struct {
	cfg   Config
	write *sql.DB // one connection, for the writer
	read  *sql.DB
	w     *writer          // nil if the store is for reading
	copy  *liveness.Folder // of a copy that is read instead of the file, if any
}

// Open opens the file, creates it if it is missing and updates its schema. Before a
// schema change it copies the file to the same folder. The caller closes the store.
// Open refuses a file that is damaged, newer than this program or from another
// program, and does not change it: see the errors of this package.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := cfg.makeFile(ctx); err != nil {
		return nil, fmt.Errorf("cannot create the database %s: %w; check the owner, mode and disk of its folder, or set HERMES_HOME to another folder", cfg.Path, err)
	}
	s := &Store{cfg: cfg}
	if err := s.open(ctx); err != nil {
		s.free()
		return nil, cfg.explain(err)
	}
	return s, nil
}

// makeFile makes a missing file, complete, under another name first: a file without
// tables is therefore never new. It does not open an existing one, because closing it
// would drop the locks that SQLite holds on it.
func (c Config) makeFile(ctx context.Context) error {
	if _, err := os.Stat(c.Path); err == nil {
		return nil
	}
	folder, name := filepath.Split(c.Path)
	if err := os.MkdirAll(filepath.Clean(folder), 0o700); err != nil {
		return err
	}
	half := c
	half.Path, half.Journal, half.creating = filepath.Join(folder, "."+name+"."+rand.Text()[:12]+".tmp"), "delete", true
	f, err := os.OpenFile(half.Path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = removeAll(half.Path) }()
	if err := f.Close(); err != nil {
		return err
	}
	made := &Store{cfg: half}
	if err := errors.Join(made.open(ctx), made.free()); err != nil {
		return err
	}
	err = os.Link(half.Path, c.Path) // unlike Rename it keeps the file of another process
	if _, missing := os.Stat(c.Path); err != nil && missing != nil {
		err = os.Rename(half.Path, c.Path) // the file system has no links
	}
	if _, missing := os.Stat(c.Path); missing == nil {
		return nil
	}
	return err
}

func (s *Store) open(ctx context.Context) error {
	var err error
	if s.write, err = sql.Open("sqlite", s.cfg.dsn()); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	version, err := s.cfg.check(ctx, conn)
	if err == nil {
		err = s.cfg.settle(ctx, conn, version == 0)
	}
	if err == nil {
		err = s.cfg.migrate(ctx, conn, version)
	}
	if err != nil {
		conn.Close()
		return err
	}
	if s.read, err = sql.Open("sqlite", s.cfg.dsn("query_only(1)")); err != nil {
		conn.Close()
		return err
	}
	s.read.SetMaxOpenConns(s.cfg.Readers)
	s.read.SetMaxIdleConns(s.cfg.Readers)
	s.w = newWriter(conn)
	return nil
}

// settle applies the settings of the connection.
func (c Config) settle(ctx context.Context, conn *sql.Conn, fresh bool) error {
	if fresh {
		if _, err := conn.ExecContext(ctx, "PRAGMA auto_vacuum = incremental"); err != nil {
			return err
		}
	}
	if err := c.setJournal(ctx, conn); err != nil {
		return err
	}
	pragmas := fmt.Sprintf("PRAGMA synchronous = %s; PRAGMA wal_autocheckpoint = %d; PRAGMA journal_size_limit = %d;",
		c.Synchronous, c.AutoCheckpoint, c.JournalLimit)
	if c.MaxPages > 0 {
		pragmas += fmt.Sprintf(" PRAGMA max_page_count = %d;", c.MaxPages)
	}
	_, err := conn.ExecContext(ctx, pragmas)
	return err
}

// setJournal changes the journal mode if needed. SQLite does not wait for other
// processes here, so setJournal does.
func (c Config) setJournal(ctx context.Context, conn *sql.Conn) error {
	var mode string
	if err := conn.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil || mode == c.Journal {
		return err
	}
	for waited := time.Duration(0); ; waited += journalPause {
		err := conn.QueryRowContext(ctx, "PRAGMA journal_mode = "+c.Journal).Scan(&mode)
		if err == nil && mode == c.Journal || waited >= c.Busy {
			return err
		}
		select {
		case <-time.After(journalPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

const journalPause = 20 * time.Millisecond

// Close waits for running writes and closes the file.
func (s *Store) Close() error { return s.free() }

func (s *Store) free() error {
	var errs []error
	if s.read != nil {
		errs = append(errs, s.read.Close())
	}
	if s.w != nil {
		errs = append(errs, s.w.close())
	}
	if s.write != nil {
		errs = append(errs, s.write.Close())
	}
	if s.copy != nil {
		errs = append(errs, s.copy.Remove())
	}
	return errors.Join(errs...)
}

// update runs a write in a transaction, its own or one shared with other writes.
func (s *Store) update(ctx context.Context, run func(*tx) error) error {
	if s.w == nil {
		return fmt.Errorf("%w: %s was opened for reading", ErrReadOnly, s.cfg.Path)
	}
	return s.cfg.explain(s.w.do(ctx, run))
}
