package sqlite

import (
	"context"
	"database/sql"
	"iter"

	"hermes/internal/fulltext"
)

// ids yields message numbers in one direction, as an index returns them. An error
// ends it.
type ids = iter.Seq2[int64, error]

// matcher reads the indexes over one connection.
type matcher struct {
	ctx    context.Context
	conn   *sql.Conn
	oldest bool  // ascending instead of descending
	lo, hi int64 // the range of numbers; hi 0 means no limit
}

// match yields the messages that match an expression in an index.
func (m matcher) match(table, expression string) ids {
	query := "SELECT rowid FROM " + table + " WHERE " + table + " MATCH ?"
	args := []any{expression}
	if m.hi > 0 {
		query += " AND rowid BETWEEN ? AND ?"
		args = append(args, m.lo, m.hi)
	}
	query += " ORDER BY rowid"
	if !m.oldest {
		query += " DESC"
	}
	return func(yield func(int64, error) bool) {
		rows, err := m.conn.QueryContext(m.ctx, query, args...)
		if err != nil {
			yield(0, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				yield(0, err)
				return
			}
			if !yield(id, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(0, err)
		}
	}
}

// query yields the messages that match one of the groups.
func (m matcher) query(q fulltext.Query) ids {
	if expression, ok := wordsOnly(q); ok {
		return m.match("words", expression)
	}
	var all ids
	for _, g := range q.Groups {
		next := m.group(g)
		if all == nil {
			all = next
		} else {
			all = m.merge(all, next, func(a, b bool) bool { return a || b })
		}
	}
	return all
}

// wordsOnly writes a query that needs no grams as one expression.
func wordsOnly(q fulltext.Query) (string, bool) {
	expression := ""
	for _, g := range q.Groups {
		_, must := fulltext.ByIndex(g.Must)
		_, not := fulltext.ByIndex(g.Not)
		if len(must)+len(not) > 0 {
			return "", false
		}
		part := "(" + fulltext.Join(g.Must, "AND") + ")"
		if len(g.Not) > 0 {
			part = "(" + part + " NOT (" + fulltext.Join(g.Not, "OR") + "))"
		}
		if expression != "" {
			expression += " OR "
		}
		expression += part
	}
	return expression, true
}

// group reads both indexes in parallel.
func (m matcher) group(g fulltext.Group) ids {
	words, grams := fulltext.ByIndex(g.Must)
	var all ids
	if len(words) > 0 {
		all = m.match("words", fulltext.Join(words, "AND"))
	}
	if len(grams) > 0 {
		found := m.match("grams", fulltext.Join(grams, "AND"))
		if all == nil {
			all = found
		} else {
			all = m.merge(all, found, func(a, b bool) bool { return a && b })
		}
	}
	words, grams = fulltext.ByIndex(g.Not)
	without := func(a, b bool) bool { return a && !b }
	if len(words) > 0 {
		all = m.merge(all, m.match("words", fulltext.Join(words, "OR")), without)
	}
	if len(grams) > 0 {
		all = m.merge(all, m.match("grams", fulltext.Join(grams, "OR")), without)
	}
	return all
}

// merge reads two lists of the same direction and yields the numbers that keep
// accepts; keep learns which lists contain a number.
func (m matcher) merge(a, b ids, keep func(inA, inB bool) bool) ids {
	return func(yield func(int64, error) bool) {
		nextA, stopA := iter.Pull2(a)
		defer stopA()
		nextB, stopB := iter.Pull2(b)
		defer stopB()
		x, errA, okA := nextA()
		y, errB, okB := nextB()
		for okA || okB {
			if errA != nil || errB != nil {
				yield(0, cmpErr(errA, errB))
				return
			}
			first := okA && (!okB || x == y || m.before(x, y))
			second := okB && (!okA || x == y || m.before(y, x))
			id := y
			if first {
				id = x
			}
			if keep(first, second) && !yield(id, nil) {
				return
			}
			if !keep(true, false) && !okB || !keep(false, true) && !okA {
				return
			}
			if first {
				x, errA, okA = nextA()
			}
			if second {
				y, errB, okB = nextB()
			}
		}
	}
}

func (m matcher) before(a, b int64) bool {
	if m.oldest {
		return a < b
	}
	return a > b
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
