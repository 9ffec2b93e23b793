package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"time"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks our files in their header ("HRMS").
const applicationID = 0x48524d53

// steps returns the SQL from each version to the next; the first creates version 1.
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

// latest returns the number of migrations, without reading them.
func (c Config) latest() (int, error) {
	if c.migrations != nil {
		return len(c.migrations), nil
	}
	entries, err := migrations.ReadDir("migrations")
	return len(entries), err
}

// check returns the version of the schema, 0 for an empty file, or an error if this
// program must not write the file. It changes nothing.
func (c Config) check(ctx context.Context, conn *sql.Conn) (int, error) {
	var version, application, tables int
	err := conn.QueryRowContext(ctx,
		"SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_master)",
	).Scan(&version, &application, &tables)
	if err != nil {
		return 0, err
	}
	if application != applicationID && tables+version+application != 0 {
		return 0, fmt.Errorf("%w: %s was not changed; move it away or use another home",
			ErrForeign, c.Path)
	}
	if application+tables+version == 0 && !c.creating {
		return 0, c.empty()
	}
	latest, err := c.latest()
	if err == nil && version > latest {
		return 0, fmt.Errorf("%w: %s has schema %d and this program supports %d; it was not changed. Update Hermes, or use another home",
			ErrNewer, c.Path, version, latest)
	}
	return version, err
}

// migrate updates the schema from a version to the latest, in one transaction.
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

// migrateWait is the minimum time that opening waits for another process, which may
// be copying a large file before it changes the schema.
const migrateWait = time.Minute

// wait sets how long the connection waits for other processes.
func (c Config) wait(ctx context.Context, conn *sql.Conn, d time.Duration) error {
	_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", d.Milliseconds()))
	return err
}

func (c Config) migrateLocked(ctx context.Context, conn *sql.Conn, steps []string) error {
	// Another process may have migrated while this one waited for the lock.
	from, err := c.check(ctx, conn)
	if err != nil || from == len(steps) {
		return err
	}
	if from > 0 {
		if err := c.backup(ctx, from); err != nil {
			return fmt.Errorf("copy the database before its schema changes: %w", err)
		}
	}
	for i, step := range steps[from:] {
		if _, err := conn.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("update the database from schema %d to %d: %w", from+i, from+i+1, err)
		}
	}
	_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", len(steps), applicationID))
	return err
}

// BackupPath returns where the copy is kept that is made before the schema changes
// from this version.
func BackupPath(path string, version int) string {
	return fmt.Sprintf("%s.v%d.bak", path, version)
}

// backup copies the file through its own connection, while the caller locks out other
// writers.
func (c Config) backup(ctx context.Context, version int) error {
	db, err := sql.Open("sqlite", c.dsn("query_only(0)"))
	if err != nil {
		return err
	}
	defer db.Close()
	to := BackupPath(c.Path, version)
	return copyInto(ctx, db, to)
}
