package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	lib "modernc.org/sqlite/lib"

	"hermes/internal/sqlitefile"
	"hermes/internal/store"
)

// Repair copies what can be read of a damaged file into a new file, which replaces
// it. Rows are also found where the schema or the pages above them are lost, and what
// cannot be read is taken from the newest backup. The damaged file is renamed and kept. Repair returns ErrBusy if a process has
// the file open.
func Repair(ctx context.Context, cfg Config) (store.Repaired, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return store.Repaired{}, err
	}
	if _, err := os.Stat(cfg.Path); err != nil {
		return store.Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	fresh := cfg
	fresh.Path = cfg.Path + ".repairing"
	if err := removeAll(fresh.Path); err != nil {
		return store.Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	r := repair{cfg: cfg}
	if err := r.copyTo(ctx, fresh); err != nil {
		return store.Repaired{}, errors.Join(err, removeAll(fresh.Path))
	}
	r.report.Kept = cfg.Path + ".damaged-" + cfg.Now().Format("20060102-150405")
	if err := moveAll(cfg.Path, r.report.Kept); err != nil {
		return store.Repaired{}, fmt.Errorf("repair the database: %w", err)
	}
	if err := moveAll(fresh.Path, cfg.Path); err != nil {
		return store.Repaired{}, fmt.Errorf("repair the database: the damaged file is now %s: %w", r.report.Kept, err)
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
	file   *sqlitefile.File // the damaged file, if its pages were read
	report store.Repaired
}

func (r *repair) copyTo(ctx context.Context, fresh Config) error {
	defer func() { // last: closing the file drops the locks that SQLite holds on it
		if r.file != nil {
			r.file.Close()
		}
	}()
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
	if _, err := r.cfg.check(ctx, r.old); errors.Is(err, ErrNewer) || errors.Is(err, ErrForeign) && !r.ours(ctx) {
		return err
	}
	if r.new, err = Open(ctx, fresh); err != nil {
		return err
	}
	err = r.copyAll(ctx)
	return errors.Join(err, r.new.Close())
}

// ours reports whether the file has the tables of this program, although its header says
// that it is another's: the header is damaged.
func (r *repair) ours(ctx context.Context) bool {
	var n int
	err := r.old.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name IN ('prompts', 'sessions', 'messages', 'steps', 'leases', 'words', 'grams')`).Scan(&n)
	return err == nil && n == 7
}

// copied is a table that is copied.
type copied struct{ name, key string }

// copiedTables are in the order in which they are copied.
func copiedTables() []copied {
	return []copied{{"prompts", "id"}, {"sessions", "key"}, {"messages", "id"}, {"steps", "id"}, {"waiting", "id"}, {"questions", "id"}, {"session_summaries", "session"},
		{"spend", "id"}, {"spend_accounts", "key"}, {"learnings", "id"}, {"recollections", "id"}}
}

func (r *repair) copyAll(ctx context.Context) error {
	written, lost, err := r.tables(ctx, copiedTables())
	if err != nil {
		return err
	}
	r.report.Sessions, r.report.Messages = written["sessions"], written["messages"]
	for _, n := range lost {
		r.report.Lost += n
	}
	if r.report.Lost > 0 {
		more, err := r.salvagePages(ctx, names(copiedTables()))
		if err != nil {
			return fmt.Errorf("repair the database: read its pages: %w", err)
		}
		r.report.Sessions += more["sessions"]
		r.report.Messages += more["messages"]
		if err := r.fill(ctx, lost["sessions"] > 0); err != nil {
			return fmt.Errorf("repair the database: read %s: %w", r.report.Backup, err)
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

// fill takes what is still missing from the newest backup that can be read. Unless the list
// of sessions is lost too, sessions that were deleted since do not come back.
func (r *repair) fill(ctx context.Context, sessionsLost bool) error {
	list, err := r.cfg.BackupFiles()
	if err != nil {
		return err
	}
	for _, path := range list {
		from := r.cfg
		from.Path = path
		db, err := sql.Open("sqlite", from.dsn("query_only(1)")+"&mode=ro&immutable=1")
		if err != nil {
			return err
		}
		conn, err := db.Conn(ctx)
		if err == nil {
			_, err = from.check(ctx, conn)
		}
		if err != nil {
			_ = db.Close()
			continue // an older one may do
		}
		r.report.Backup = path
		damaged := r.old
		r.old = conn
		tables := copiedTables()
		if !sessionsLost {
			tables = slices.DeleteFunc(tables, func(t copied) bool { return t.name == "sessions" })
		}
		written, _, err := r.tables(ctx, tables)
		r.old = damaged
		err = errors.Join(err, conn.Close(), db.Close())
		r.report.Sessions += written["sessions"]
		r.report.Messages += written["messages"]
		r.report.FromBackup = written["messages"]
		if err == nil && !sessionsLost {
			err = r.dropDeleted(ctx)
		}
		return err
	}
	return nil
}

// dropDeleted removes what a backup has of sessions that were deleted since.
func (r *repair) dropDeleted(ctx context.Context) error {
	return r.new.update(ctx, func(t *tx) error {
		for _, query := range []string{
			`DELETE FROM words WHERE rowid IN (SELECT id FROM messages WHERE session NOT IN (SELECT key FROM sessions))`,
			`DELETE FROM grams WHERE rowid IN (SELECT id FROM messages WHERE session NOT IN (SELECT key FROM sessions))`,
			`DELETE FROM session_summaries WHERE session NOT IN (SELECT key FROM sessions)`,
			`DELETE FROM steps WHERE session NOT IN (SELECT key FROM sessions)`,
			`DELETE FROM waiting WHERE session NOT IN (SELECT key FROM sessions)`,
			`DELETE FROM questions WHERE session NOT IN (SELECT key FROM sessions)`,
		} {
			if err := t.exec(query); err != nil {
				return err
			}
		}
		done, err := t.result(`DELETE FROM messages WHERE session NOT IN (SELECT key FROM sessions)`)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		r.report.Messages -= int(n)
		r.report.FromBackup -= int(n)
		return err
	})
}

// tables copies tables and returns the rows that were written and the ranges that
// could not be read, by table.
func (r *repair) tables(ctx context.Context, tables []copied) (written, lost map[string]int, err error) {
	written, lost = map[string]int{}, map[string]int{}
	for _, t := range tables {
		if r.younger(ctx, t.name) {
			continue
		}
		c, err := r.table(ctx, t.name, t.key)
		if err != nil {
			return written, lost, fmt.Errorf("repair the database: copy %s: %w", t.name, err)
		}
		written[t.name], lost[t.name] = c.written, c.lost
	}
	return written, lost, nil
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
func (r *repair) table(ctx context.Context, name, key string) (*tableCopy, error) {
	columns, err := r.columns(ctx, name)
	if err != nil {
		return nil, err
	}
	query := "SELECT " + key + ", " + strings.Join(columns, ", ") + " FROM " + name + " WHERE " + key + " >= ? ORDER BY " + key + " LIMIT ?"
	c := &tableCopy{repair: r, name: name, columns: columns, query: query}
	return c, c.run(ctx)
}
