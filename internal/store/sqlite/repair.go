package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	lib "modernc.org/sqlite/lib"
)

// Repaired reports what Repair saved.
type Repaired struct {
	Sessions, Messages int
	// Lost counts ranges of rows that could not be read; the number of rows in
	// them is unknown.
	Lost int
	// Kept is where the damaged file is now.
	Kept string
}

// Repair copies what can be read of a damaged file into a new file, which replaces
// it. The damaged file is renamed and kept. Repair returns ErrBusy if a process has
// the file open.
func Repair(ctx context.Context, cfg Config) (Repaired, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Repaired{}, err
	}
	if _, err := os.Stat(cfg.Path); err != nil {
		return Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	fresh := cfg
	fresh.Path = cfg.Path + ".repairing"
	if err := removeAll(fresh.Path); err != nil {
		return Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	r := repair{cfg: cfg}
	if err := r.copyTo(ctx, fresh); err != nil {
		return Repaired{}, errors.Join(err, removeAll(fresh.Path))
	}
	r.report.Kept = cfg.Path + ".damaged-" + cfg.Now().Format("20060102-150405")
	if err := moveAll(cfg.Path, r.report.Kept); err != nil {
		return Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	if err := moveAll(fresh.Path, cfg.Path); err != nil {
		return Repaired{}, fmt.Errorf("repair the database: the damaged file is now %s: %w", r.report.Kept, err)
	}
	return r.report, nil
}

// companions lists the suffixes of the files that belong to a database.
func companions() []string { return []string{"", "-wal", "-shm", "-journal"} }

func removeAll(path string) error {
	for _, c := range companions() {
		if err := os.Remove(path + c); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

func moveAll(from, to string) error {
	for _, c := range companions() {
		if err := os.Rename(from+c, to+c); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// repair is one run of Repair.
type repair struct {
	cfg    Config
	old    *sql.Conn
	new    *Store
	report Repaired
}

func (r *repair) copyTo(ctx context.Context, fresh Config) error {
	db, err := sql.Open("sqlite", r.cfg.dsn("locking_mode(exclusive)"))
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if r.old, err = db.Conn(ctx); err != nil {
		return r.cfg.explain(err)
	}
	defer r.old.Close()
	// Locking fails as busy if a process uses the file; other errors come from damage.
	_, err = r.old.ExecContext(ctx, "BEGIN EXCLUSIVE; ROLLBACK")
	if c := code(err); c == lib.SQLITE_BUSY || c == lib.SQLITE_LOCKED {
		return r.cfg.explain(err)
	}
	if _, err := r.cfg.check(ctx, r.old); errors.Is(err, ErrNewer) || errors.Is(err, ErrForeign) {
		return err
	}
	if r.new, err = Open(ctx, fresh); err != nil {
		return err
	}
	err = r.tables(ctx)
	return errors.Join(err, r.new.Close())
}

func (r *repair) tables(ctx context.Context) error {
	for _, t := range []struct {
		name, key string
		count     *int
	}{{"prompts", "id", nil}, {"sessions", "key", &r.report.Sessions}, {"messages", "id", &r.report.Messages}, {"steps", "id", nil}, {"session_summaries", "session", nil},
		{"spend", "id", nil}, {"spend_accounts", "key", nil},
		{"learnings", "id", nil}, {"recollections", "id", nil}} {
		if r.younger(ctx, t.name) {
			continue
		}
		if err := r.table(ctx, t.name, t.key, t.count); err != nil {
			return fmt.Errorf("repair the database: copy %s: %w", t.name, err)
		}
	}
	if err := r.new.indexRecollections(ctx); err != nil {
		return fmt.Errorf("repair the database: index recollections: %w", err)
	}
	return r.new.update(ctx, func(t *tx) error {
		for _, query := range []string{
			`INSERT INTO sessions (key, id, source, started)
				SELECT session, 'recovered_' || session, 'recovered', min(at) FROM messages
				WHERE session NOT IN (SELECT key FROM sessions) GROUP BY session`,
			`UPDATE sessions SET (messages, calls, bytes, turns, active) = (
				SELECT count(*), coalesce(sum(calls), 0),
					coalesce(sum(coalesce(octet_length(text), 0) + coalesce(octet_length(body), 0)), 0),
					max(sessions.turns, coalesce(max(turn), 0)), max(at)
				FROM messages WHERE session = sessions.key AND NOT hidden)`,
		} {
			if err := t.exec(query); err != nil {
				return err
			}
		}
		return nil
	})
}

// younger reports whether a table is newer than the schema of the old file. It reports
// false if the old schema cannot be read.
func (r *repair) younger(ctx context.Context, table string) bool {
	var sessions, wanted int
	err := r.old.QueryRowContext(ctx, `SELECT coalesce(sum(name = 'sessions'), 0), coalesce(sum(name = ?), 0) FROM sqlite_master WHERE type = 'table'`,
		table).Scan(&sessions, &wanted)
	return err == nil && sessions > 0 && wanted == 0
}

// repairBatch is the number of rows that are copied in one transaction.
const repairBatch = 200

// table copies the rows of a table by their key and skips what cannot be read.
func (r *repair) table(ctx context.Context, name, key string, count *int) error {
	columns, err := r.columns(ctx, name)
	if err != nil {
		return err
	}
	query := "SELECT " + key + ", " + strings.Join(columns, ", ") + " FROM " + name + " WHERE " + key + " >= ? ORDER BY " + key + " LIMIT ?"
	c := tableCopy{repair: r, name: name, columns: columns, query: query}
	err = c.run(ctx)
	if count != nil {
		*count = c.written
	}
	return err
}
