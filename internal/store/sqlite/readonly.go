package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"hermes/internal/liveness"
)

// OpenReadOnly opens an existing file for reading only, for a disk that is full or cannot
// be written: it writes nothing beside the file. Changes that only the write-ahead log has
// yet are read from a copy in the folder for temporary files, which Close removes. Every
// write fails with ErrReadOnly.
func OpenReadOnly(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cfg.Path); err != nil {
		return nil, fmt.Errorf("open the database for reading: %w", err)
	}
	s := &Store{cfg: cfg}
	if err := s.openReadOnly(ctx); err != nil {
		_ = s.free()
		return nil, cfg.explain(err)
	}
	return s, nil
}

func (s *Store) openReadOnly(ctx context.Context) error {
	address := s.cfg.dsn("query_only(1)") + "&mode=ro&immutable=1"
	if info, err := os.Stat(s.cfg.Path + "-wal"); err == nil && info.Size() > 0 {
		copied, err := s.copyWithLog()
		if err != nil {
			return fmt.Errorf("the database cannot be written, and its last changes are in %s-wal, which can then only be read from a copy: %w", s.cfg.Path, tempAdvice(err))
		}
		address = copied.dsn("query_only(1)")
	}
	var err error
	if s.read, err = sql.Open("sqlite", address); err != nil {
		return err
	}
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := s.cfg.check(ctx, conn)
	if err != nil {
		return err
	}
	if latest, err := s.cfg.latest(); err != nil || version != latest {
		return fmt.Errorf("%w, and %s is of an earlier version of Hermes, which must be updated first: make its disk writable", ErrReadOnly, s.cfg.Path)
	}
	return nil
}

// tempAdvice adds what to do if the folder for temporary files does not take a copy.
func tempAdvice(err error) error {
	e, ok := errors.AsType[*fs.PathError](err)
	if temp := filepath.Clean(os.TempDir()); ok && (e.Path == temp || strings.HasPrefix(e.Path, temp+string(filepath.Separator))) {
		name := "TMPDIR"
		if runtime.GOOS == "windows" {
			name = "TMP"
		}
		return fmt.Errorf("%w (set %s to use another folder than %s)", err, name, temp)
	}
	return err
}

// copyWithLog copies the file and its log to a folder of their own.
func (s *Store) copyWithLog() (Config, error) {
	const prefix = "hermes-read-"
	liveness.Sweep("", prefix) // those of processes that were killed
	var err error
	if s.copy, err = liveness.TempFolder("", prefix); err != nil {
		return Config{}, err
	}
	copied := s.cfg
	copied.Path = filepath.Join(s.copy.Path, "hermes.db")
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(s.cfg.Path+suffix, copied.Path+suffix); err != nil {
			return Config{}, err
		}
	}
	return copied, nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
