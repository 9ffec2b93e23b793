package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Backup writes a compact, complete copy of the database to a new file, which only the
// owner may read. Others may continue to write. The file appears when it is complete.
func (s *Store) Backup(ctx context.Context, to string) error {
	if _, err := os.Stat(to); err == nil {
		return fmt.Errorf("back up the database: %s already exists; choose another name", to)
	}
	db, err := sql.Open("sqlite", s.cfg.dsn())
	if err != nil {
		return err
	}
	defer db.Close()
	return s.cfg.explain(copyInto(ctx, db, to))
}

// partSuffix ends the names of copies that are not complete.
const partSuffix = ".part"

// copyInto copies a database to a file, durably and in one step.
func copyInto(ctx context.Context, db *sql.DB, to string) error {
	half := to + partSuffix
	if err := os.Remove(half); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(half, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) // SQLite accepts an empty file
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", half)
	}
	if err == nil {
		err = syncFile(half)
	}
	if err == nil {
		err = os.Rename(half, to)
	}
	if err != nil {
		return errors.Join(err, removeAll(half))
	}
	return nil
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

const (
	backupPrefix, backupSuffix = "hermes-", ".db"
	backupTime                 = "20060102-150405"
	// backedUp names the time of the last copy in the table meta.
	backedUp = "backed_up"
	// partAge is the age after which a copy that is not complete was given up.
	partAge = time.Hour
)

// AutoBackup copies the database to a new file in the folder for backups, unless this or
// another process began one less than every ago, and removes the oldest copies but keep.
// It reports whether it made one. A copy that fails is tried again after every, one that
// the context ends by the next call.
func (s *Store) AutoBackup(ctx context.Context, keep int, every time.Duration) (bool, error) {
	if s.cfg.Backups == "" || keep <= 0 {
		return false, nil
	}
	var before int64
	due, err := s.due(ctx, backedUp, every, func(t *tx) (bool, error) {
		before = 0
		err := t.row(`SELECT value FROM meta WHERE name = ?`, []any{backedUp}, &before)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return true, err
	})
	if err != nil || !due {
		return false, err
	}
	if err := os.MkdirAll(s.cfg.Backups, 0o700); err != nil {
		return false, fmt.Errorf("back up the database: %w", err)
	}
	s.cfg.removeParts()
	if err := s.Backup(ctx, filepath.Join(s.cfg.Backups, backupPrefix+s.cfg.Now().Format(backupTime)+backupSuffix)); err != nil {
		if ctx.Err() != nil {
			err = errors.Join(err, s.update(context.WithoutCancel(ctx), func(t *tx) error {
				return t.exec(`UPDATE meta SET value = ? WHERE name = ?`, before, backedUp)
			}))
		}
		return false, err
	}
	list, err := s.cfg.BackupFiles()
	if err != nil {
		return true, err
	}
	for _, old := range list[min(keep, len(list)):] {
		err = errors.Join(err, os.Remove(old))
	}
	return true, err
}

// PostponeBackup makes AutoBackup wait for its whole period, as if a copy had been made now.
func (s *Store) PostponeBackup(ctx context.Context) error {
	return s.update(ctx, func(t *tx) error {
		return t.exec(`INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)`, backedUp, nanos(s.cfg.Now()))
	})
}

// backupAt is when a file of BackupFiles was begun, by its name.
func backupAt(path string) time.Time {
	name := filepath.Base(path)
	at, _ := time.ParseInLocation(backupPrefix+backupTime+backupSuffix, name, time.Local)
	return at
}

// removeParts removes the copies of processes that were killed meanwhile.
func (c Config) removeParts() {
	entries, _ := os.ReadDir(c.Backups) // the backup reports what is wrong with it
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), backupPrefix) || !strings.Contains(e.Name(), backupSuffix+partSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > partAge {
			_ = os.Remove(filepath.Join(c.Backups, e.Name())) // the next backup tries again
		}
	}
}

// wrongClock is how far in the future a copy is dated by a clock that was wrong. Less may be
// another time zone: names have the local time.
const wrongClock = 26 * time.Hour

// NewestBackup is when the newest of BackupFiles was begun, zero if there is none.
func (c Config) NewestBackup() (time.Time, error) {
	list, err := c.BackupFiles()
	if err != nil || len(list) == 0 {
		return time.Time{}, err
	}
	return backupAt(list[0]), nil
}

// BackupFiles returns the complete copies in the folder for backups, newest first. Copies that
// are dated in the future come last, as they are older than those since the clock was set back.
func (c Config) BackupFiles() ([]string, error) {
	if c.Backups == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(c.Backups)
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("list the backups of the database: %w", err)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	latest := filepath.Join(c.Backups, backupPrefix+c.Now().Add(wrongClock).Format(backupTime)+backupSuffix)
	var list, future []string
	for _, e := range entries {
		stamp, ok := strings.CutPrefix(e.Name(), backupPrefix)
		stamp, ends := strings.CutSuffix(stamp, backupSuffix)
		if _, err := time.Parse(backupTime, stamp); ok && ends && err == nil && e.Type().IsRegular() {
			path := filepath.Join(c.Backups, e.Name())
			if path > latest {
				future = append(future, path)
				continue
			}
			list = append(list, path)
		}
	}
	slices.Sort(list)
	slices.Reverse(list)
	slices.Sort(future)
	slices.Reverse(future)
	return append(list, future...), nil
}
