package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/fulltext"
)

// indexed returns the text of a message for each of the two indexes.
func indexed(m hermes.Message) (words, grams string) {
	return fulltext.Split(searchable(m))
}

// searchable returns the text of a message that can be found: what the user may see,
// the name of its tool, the names and arguments of its calls.
func searchable(m hermes.Message) string {
	text := m.Visible()
	if m.ToolName == "" && len(m.Calls) == 0 {
		return text
	}
	parts := []string{text}
	if m.ToolName != "" {
		parts = append(parts, m.ToolName)
	}
	for _, c := range m.Calls {
		parts = append(parts, c.Name)
		parts = appendStrings(parts, c.Arguments)
	}
	return strings.Join(parts, "\n")
}

// appendStrings appends the string values of a JSON document.
func appendStrings(list []string, document string) []string {
	var v any
	if json.Unmarshal([]byte(document), &v) != nil {
		return append(list, document)
	}
	return appendValues(list, v)
}

func appendValues(list []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(list, v)
	case []any:
		for _, e := range v {
			list = appendValues(list, e)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = appendValues(list, v[key])
		}
	}
	return list
}

// index writes the index entries of a message.
func (t *tx) index(id int64, words, grams string) error {
	if words != "" {
		if err := t.exec(`INSERT INTO words (rowid, text) VALUES (?, ?)`, id, words); err != nil {
			return err
		}
	}
	if grams != "" {
		return t.exec(`INSERT INTO grams (rowid, text) VALUES (?, ?)`, id, grams)
	}
	return nil
}

// reindex writes the index entries of a stored message.
func (t *tx) reindex(id any) error {
	var r record
	if err := t.row(`SELECT `+messageColumns+` FROM messages WHERE id = ?`, []any{id}, r.fields()...); err != nil {
		return err
	}
	m, err := r.message()
	if err != nil {
		return t.exec(`DELETE FROM messages WHERE id = ?`, id) // its body is damaged
	}
	words, grams := indexed(m)
	return t.index(r.id, words, grams)
}

const (
	// oncePartly is the size in bytes beyond which earlier versions did not index.
	oncePartly = 64 << 10
	// reindexRange is the number of messages that one transaction looks at. It indexes
	// at most reindexMost of them, since each is long.
	reindexRange = 5000
	reindexMost  = 8
)

// IndexWhole indexes the long messages of which an earlier version indexed the beginning
// only, newest first. It works in steps, so that others can write in between, and continues
// where an earlier call was ended. In other databases it does nothing.
func (s *Store) IndexWhole(ctx context.Context) error {
	for {
		var left int64
		err := s.update(ctx, func(t *tx) error {
			err := t.row(`SELECT value FROM meta WHERE name = 'partly_indexed'`, nil, &left)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if err != nil || left <= 0 {
				return err
			}
			if left, err = t.indexWhole(left); err != nil {
				return err
			}
			return t.exec(`UPDATE meta SET value = ? WHERE name = 'partly_indexed'`, left)
		})
		if err != nil || left <= 0 {
			return err
		}
	}
}

// indexWhole indexes some long messages up to a number and returns up to which number
// there may be more.
func (t *tx) indexWhole(upTo int64) (left int64, err error) {
	low := max(0, upTo-reindexRange)
	list, err := t.long(low, upTo)
	for _, id := range list {
		for _, from := range []string{`DELETE FROM words WHERE rowid = ?`, `DELETE FROM grams WHERE rowid = ?`} {
			if err == nil {
				err = t.exec(from, id)
			}
		}
		if err == nil {
			err = t.reindex(id)
		}
	}
	if len(list) == reindexMost {
		return list[len(list)-1] - 1, err
	}
	return low, err
}

// long returns the last long messages of a range.
func (t *tx) long(low, upTo int64) ([]int64, error) {
	stmt, err := t.stmt(`SELECT id FROM messages WHERE id > ? AND id <= ?
		AND coalesce(octet_length(text), 0) + coalesce(octet_length(body), 0) > ? ORDER BY id DESC LIMIT ?`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.Background(), low, upTo, oncePartly, reindexMost)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, rows.Err()
}
