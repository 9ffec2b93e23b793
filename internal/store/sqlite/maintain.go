package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"hermes/internal/store"
)

// pruneBatch limits the sessions that one transaction removes, so that other writes
// are not delayed.
const pruneBatch = 20

// Prune removes the sessions past their retention, with their messages, and returns
// how many. It keeps their children, without a parent.
func (s *Store) Prune(ctx context.Context, r store.Retention) (int, error) {
	removed, err := s.prune(ctx, r)
	if err != nil {
		return removed, err
	}
	return removed, s.shrink(ctx)
}

func (s *Store) prune(ctx context.Context, r store.Retention) (int, error) {
	removed := 0
	for {
		n := 0
		err := s.update(ctx, func(t *tx) error {
			keys, err := t.prunable(r)
			n = len(keys)
			for _, key := range keys {
				if err == nil {
					err = t.remove(key)
				}
			}
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += n
		if n < pruneBatch {
			return removed, nil
		}
	}
}

func (t *tx) prunable(r store.Retention) ([]int64, error) {
	before := int64(1<<63 - 1)
	if !r.Before.IsZero() {
		before = nanos(r.Before)
	}
	stmt, err := t.stmt(`SELECT key FROM sessions WHERE ended IS NOT NULL AND NOT pinned
		AND coalesce(active, started) < ?1 AND (?2 = '' OR source = ?2)
		ORDER BY coalesce(active, started) LIMIT ?3`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.Background(), before, r.Platform, pruneBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []int64
	for rows.Next() {
		var key int64
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// AutoPrune prunes unless this or another process did so less than every ago. It
// reports whether it did. It leaves the free pages in the file; see AutoShrink.
func (s *Store) AutoPrune(ctx context.Context, r store.Retention, every time.Duration) (bool, error) {
	due, err := s.due(ctx, "pruned", every, func(*tx) (bool, error) { return true, nil })
	if err != nil || !due {
		return false, err
	}
	_, err = s.prune(ctx, r)
	return true, err
}

// AutoShrink returns free pages to the disk if they are more than a quarter of the file,
// unless this or another process did so less than every ago. It reports whether it did.
func (s *Store) AutoShrink(ctx context.Context, every time.Duration) (bool, error) {
	due, err := s.due(ctx, "shrunk", every, func(t *tx) (bool, error) {
		var free, all int64
		if err := t.row(`PRAGMA freelist_count`, nil, &free); err != nil {
			return false, err
		}
		err := t.row(`PRAGMA page_count`, nil, &all)
		return free > all/4, err
	})
	if err != nil || !due {
		return false, err
	}
	return true, s.shrink(ctx)
}

// due reports whether work is needed and was not done less than every ago, and records
// that it is done now. A time in the future says that the clock was set back: nothing is
// known, and the work is due.
func (s *Store) due(ctx context.Context, name string, every time.Duration, needed func(*tx) (bool, error)) (bool, error) {
	due := false
	err := s.update(ctx, func(t *tx) error {
		due = false
		now := s.cfg.Now()
		var last int64
		err := t.row(`SELECT value FROM meta WHERE name = ?`, []any{name}, &last)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if ago := now.Sub(timeOf(last)); ago >= 0 && ago < every {
			return nil
		}
		if due, err = needed(t); err != nil || !due {
			return err
		}
		return t.exec(`INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)`, name, nanos(now))
	})
	return due, err
}

// Optimize merges the index and returns free pages to the disk. It works in steps, so
// that others can write in between.
func (s *Store) Optimize(ctx context.Context) error {
	if err := s.IndexWhole(ctx); err != nil {
		return err
	}
	for _, table := range []string{"words", "grams"} {
		if err := s.merge(ctx, table); err != nil {
			return err
		}
	}
	if err := s.shrink(ctx); err != nil {
		return err
	}
	_, err := s.read.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return s.cfg.explain(err)
}

// merge merges an index completely.
func (s *Store) merge(ctx context.Context, table string) error {
	pages := -500 // negative: start a full merge; positive: continue it
	for {
		var before, after int64
		err := s.update(ctx, func(t *tx) error {
			if err := t.row(`SELECT total_changes()`, nil, &before); err != nil {
				return err
			}
			if err := t.exec(`INSERT INTO `+table+` (`+table+`, rank) VALUES ('merge', ?)`, pages); err != nil {
				return err
			}
			return t.row(`SELECT total_changes()`, nil, &after)
		})
		if err != nil || after-before < 2 {
			return err
		}
		pages = 500
	}
}

// shrink returns free pages to the disk, some at a time.
func (s *Store) shrink(ctx context.Context) error {
	for {
		var free int64
		err := s.update(ctx, func(t *tx) error {
			if err := t.exec(`PRAGMA incremental_vacuum(2000)`); err != nil {
				return err
			}
			return t.row(`PRAGMA freelist_count`, nil, &free)
		})
		if err != nil || free == 0 {
			return err
		}
	}
}

// Check reads the whole file and reports damage as ErrCorrupt.
func (s *Store) Check(ctx context.Context) error {
	var verdict string
	if err := s.read.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return s.cfg.explain(err)
	}
	if verdict != "ok" {
		return s.cfg.damaged(verdict)
	}
	return nil
}
