package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"os"
	"time"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks our files in their header ("HRMS").
const applicationID = 0x48524d53

// steps returns the SQL that leads from each version to the next; the first
// makes version 1.
func (c Config) steps() ([]string, error) {
	if c.migrations != nil {
		return c.migrations, nil
	}
	entries, err := migrations.ReadDir("migrations") // sorted by name
	if err != nil {
		return nil, err
	}
	var steps []string
	for _, e := range entries {
		text, err := migrations.ReadFile("migrations/" + e.Name())
		if err != nil {
			return nil, err
		}
		steps = append(steps, string(text))
	}
	return steps, nil
}

// latest is the number of migrations there are, without reading them.
func (c Config) latest() (int, error) {
	if c.migrations != nil {
		return len(c.migrations), nil
	}
	entries, err := migrations.ReadDir("migrations")
	return len(entries), err
}

// check tells the version of the schema, 0 for an empty file, or why the file
// is not ours to write. It changes nothing.
func (c Config) check(ctx context.Context, conn *sql.Conn) (int, error) {
	var version, application, tables int
	err := conn.QueryRowContext(ctx,
		"SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_master)",
	).Scan(&version, &application, &tables)
	if err != nil {
		return 0, err
	}
	if application != applicationID && tables+version+application != 0 {
		return 0, fmt.Errorf("%w: %s was made by another one and is left untouched; move it away or choose another home",
			ErrForeign, c.Path)
	}
	latest, err := c.latest()
	if err == nil && version > latest {
		return 0, fmt.Errorf("%w: %s has schema %d and this program knows %d; it is left untouched. Update Hermes, or choose another home",
			ErrNewer, c.Path, version, latest)
	}
	return version, err
}

// migrate brings the schema from a version to the latest, in one transaction.
func (c Config) migrate(ctx context.Context, conn *sql.Conn, from int) error {
	latest, err := c.latest()
	if err != nil || from == latest {
		return err
	}
	steps, err := c.steps()
	if err != nil {
		return err
	}
	if err := c.wait(ctx, conn, max(c.Busy, migrateWait)); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err = c.migrateLocked(ctx, conn, steps)
	if err == nil {
		_, err = conn.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		return err
	}
	return c.wait(ctx, conn, c.Busy)
}

// migrateWait is how long opening waits for another process, if that is longer
// than for a write: it may be copying a large file before it changes the schema.
const migrateWait = time.Minute

// wait sets how long the connection waits for other processes.
func (c Config) wait(ctx context.Context, conn *sql.Conn, d time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

func (c Config) migrateLocked(ctx context.Context, conn *sql.Conn, steps []string) error {
	// Another process may have done it while this one waited for the lock.
	from, err := c.check(ctx, conn)
	if err != nil || from == len(steps) {
		return err
	}
	if from > 0 {
		if err := c.backup(ctx, from); err != nil {
			return fmt.Errorf("keep a copy of the database before its schema changes: %w", err)
		}
	}
	for i, step := range steps[from:] {
		if _, err := conn.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("bring the database from schema %d to %d: %w", from+i, from+i+1, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(steps), applicationID))
	return err
}

// BackupPath is where the copy is kept that is made before the schema of a
// file changes from this version.
func BackupPath(path string, version int) string {
	return fmt.Sprintf("%s.v%d.bak", path, version)
}

// backup copies the file as it is, by a connection of its own, while the
// caller keeps others from writing.
func (c Config) backup(ctx context.Context, version int) error {
	db, err := sql.Open("sqlite", c.dsn("query_only(0)"))
	if err != nil {
		return err
	}
	defer db.Close()
	to := BackupPath(c.Path, version)
	half := to + ".part"
	if err := os.Remove(half); err != nil && !os.IsNotExist(err) {
		return err
	}
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", half); err != nil {
		return err
	}
	return os.Rename(half, to)
}
