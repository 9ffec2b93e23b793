package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// tableCopy is the copy of one table.
type tableCopy struct {
	*repair
	name    string
	columns []string
	query   string // reads a number of rows from a key on
	written int
	lost    int // ranges that could not be read
}

// copy copies some rows from a key on. It returns the key of the last, or an error if
// none could be read.
func (c *tableCopy) copy(ctx context.Context, from int64, most int) (last int64, n int, readErr, err error) {
	rows, last, readErr := c.read(ctx, c.query, from, most, len(c.columns))
	written, err := c.write(ctx, c.name, c.columns, rows)
	c.written += written
	return last, len(rows), readErr, err
}

func (c *tableCopy) run(ctx context.Context) error {
	next := int64(0)
	for {
		last, n, readErr, err := c.copy(ctx, next, repairBatch)
		if err != nil || ctx.Err() != nil {
			return cmpErr(err, ctx.Err())
		}
		if n == 0 && readErr == nil {
			return nil
		}
		if n > 0 {
			next = last + 1
			continue
		}
		c.lost++
		if next, err = c.skip(ctx, next); err != nil || next < 0 {
			return err
		}
	}
}

// refineMost limits the rows before a readable range that are tried one by one.
const refineMost = 20_000

// skip finds the next key from which rows can be read, in growing steps, and then
// tries the skipped rows one by one. It returns the key to continue from, less than 0
// if there is none.
func (c *tableCopy) skip(ctx context.Context, bad int64) (int64, error) {
	for stride := int64(1); bad+stride > 0; stride *= 2 {
		last, n, readErr, err := c.copy(ctx, bad+stride, 1)
		if err != nil || ctx.Err() != nil {
			return -1, cmpErr(err, ctx.Err())
		}
		if n == 0 && readErr != nil {
			continue
		}
		for k := max(bad+stride/2+1, bad+stride-refineMost); k < bad+stride; k++ {
			if _, _, _, err := c.copy(ctx, k, 1); err != nil {
				return -1, err
			}
		}
		if n == 0 {
			return -1, nil
		}
		return last + 1, nil
	}
	return -1, nil
}

// columns returns the columns of a table that both files have, or those of the new
// file if the old schema cannot be read.
func (r *repair) columns(ctx context.Context, table string) ([]string, error) {
	conn, err := r.new.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	names, err := columnsOf(ctx, conn, table)
	if err != nil {
		return nil, err
	}
	olds, err := columnsOf(ctx, r.old, table)
	if err != nil || len(olds) == 0 {
		return names, nil
	}
	return slices.DeleteFunc(names, func(n string) bool { return !slices.Contains(olds, n) }), nil
}

func columnsOf(ctx context.Context, conn *sql.Conn, table string) ([]string, error) {
	rows, err := conn.QueryContext(ctx, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// read returns rows from a key on, up to the first unreadable one, and the key of the
// last.
func (r *repair) read(ctx context.Context, query string, from int64, most, width int) (list [][]any, last int64, err error) {
	rows, err := r.old.QueryContext(ctx, query, from, most)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		row := make([]any, width)
		into := make([]any, 0, width+1)
		into = append(into, &last)
		for i := range row {
			into = append(into, &row[i])
		}
		if err := rows.Scan(into...); err != nil {
			return list, last, err
		}
		list = append(list, row)
	}
	return list, last, rows.Err()
}

// write stores rows and indexes them if they are messages. A row that the
// schema refuses is damaged and skipped.
func (r *repair) write(ctx context.Context, name string, columns []string, list [][]any) (int, error) {
	written := 0
	if len(list) == 0 {
		return 0, nil
	}
	insert := "INSERT OR IGNORE INTO " + name + " (" + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	err := r.new.update(ctx, func(t *tx) error {
		written = 0
		for _, row := range list {
			done, err := t.result(insert, row...)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n == 0 {
				continue
			}
			written++
			if name != "messages" {
				continue
			}
			if err := t.reindex(row[0]); err != nil {
				return err
			}
		}
		return nil
	})
	return written, err
}
