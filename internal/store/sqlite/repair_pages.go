package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"hermes/internal/sqlitefile"
)

// shape says what the rows of a table look like, so that they are recognized without the
// schema of the damaged file.
type shape struct {
	table   string
	columns []column
	least   int // columns that every row has; later ones were added with a default
	key     int // the column that is the number of the row
}

type column struct {
	name, kind string // INTEGER, TEXT or BLOB
	needed     bool   // not NULL
}

// salvagePages copies the rows that the file's own tables do not lead to any more: the
// schema, or the pages above them, are damaged. Rows that were copied before stay.
func (r *repair) salvagePages(ctx context.Context, tables []string) (copied map[string]int, err error) {
	file, err := sqlitefile.Open(r.cfg.Path)
	if err != nil {
		return nil, err
	}
	r.file = file // copyTo closes them
	shapes, err := r.shapes(ctx, tables)
	if err != nil {
		return nil, err
	}
	type batch struct {
		width int
		rows  [][]any
	}
	waiting, copied := map[string]*batch{}, map[string]int{}
	flush := func(s shape) error {
		b := waiting[s.table]
		if b == nil || len(b.rows) == 0 {
			return nil
		}
		names := make([]string, b.width)
		for i := range names {
			names[i] = s.columns[i].name
		}
		n, err := r.write(ctx, s.table, names, b.rows)
		copied[s.table] += n
		b.rows = nil
		return err
	}
	err = file.Rows(func(key int64, values []any) error {
		s, ok := recognize(shapes, values)
		if !ok {
			return ctx.Err()
		}
		values[s.key] = key
		b := waiting[s.table]
		if b == nil {
			b = &batch{}
			waiting[s.table] = b
		}
		if len(b.rows) == repairBatch || b.width != len(values) {
			if err := flush(s); err != nil {
				return err
			}
			b.width = len(values)
		}
		b.rows = append(b.rows, values)
		return ctx.Err()
	})
	for _, s := range shapes {
		err = errors.Join(err, flush(s))
	}
	return copied, err
}

// recognize returns the only shape that a row has.
func recognize(shapes []shape, values []any) (found shape, ok bool) {
	for _, s := range shapes {
		if !s.fits(values) {
			continue
		}
		if ok {
			return shape{}, false
		}
		found, ok = s, true
	}
	return found, ok
}

func (s shape) fits(values []any) bool {
	if len(values) < s.least || len(values) > len(s.columns) {
		return false
	}
	for i, v := range values {
		c := s.columns[i]
		ok := false
		switch v.(type) {
		case nil:
			ok = i == s.key || !c.needed
		case int64:
			ok = i != s.key && c.kind == "INTEGER"
		case string:
			ok = c.kind == "TEXT"
		case []byte:
			ok = c.kind == "BLOB"
		}
		if !ok {
			return false
		}
	}
	return true
}

// shapes reads those of the new file.
func (r *repair) shapes(ctx context.Context, tables []string) ([]shape, error) {
	var list []shape
	for _, table := range tables {
		rows, err := r.new.read.QueryContext(ctx, `SELECT name, type, "notnull", dflt_value IS NOT NULL, pk FROM pragma_table_info(?)`, table)
		if err != nil {
			return nil, err
		}
		s := shape{table: table, key: -1}
		err = scanColumns(rows, &s)
		if err != nil {
			return nil, err
		}
		if s.key < 0 {
			continue // its rows have no number
		}
		list = append(list, s)
	}
	return list, nil
}

func scanColumns(rows *sql.Rows, s *shape) error {
	defer rows.Close()
	for rows.Next() {
		var c column
		var hasDefault bool
		var pk int
		if err := rows.Scan(&c.name, &c.kind, &c.needed, &hasDefault, &pk); err != nil {
			return err
		}
		if pk > 0 {
			s.key = len(s.columns)
		}
		if s.columns = append(s.columns, c); c.needed && !hasDefault {
			s.least = len(s.columns)
		}
	}
	return rows.Err()
}

// names lists tables for salvage.
func names(tables []copied) []string {
	var list []string
	for _, t := range tables {
		list = append(list, t.name)
	}
	return slices.Clip(list)
}
