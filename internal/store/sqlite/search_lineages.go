package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
)

// lineages keeps the first hit of each lineage of a search. A nil one keeps every hit.
type lineages struct {
	ctx    context.Context
	conn   *sql.Conn
	asking int64           // the root of the lineage that comes last; 0 if there is none
	roots  map[int64]int64 // by session
	taken  map[int64]bool  // roots with a hit
	closed map[int64]bool  // sessions of these roots, as far as they were met
	last   []found         // the hit of the asking lineage, if any
}

func newLineages(ctx context.Context, conn *sql.Conn, asking string) (*lineages, error) {
	l := &lineages{ctx: ctx, conn: conn, roots: map[int64]int64{}}
	l.reset()
	if asking == "" {
		return l, nil
	}
	var key int64
	err := conn.QueryRowContext(ctx, `SELECT key FROM sessions WHERE id = ?`, asking).Scan(&key)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	if err == nil {
		l.asking, err = l.root(key)
	}
	return l, err
}

// reset forgets the hits, for another pass.
func (l *lineages) reset() { l.taken, l.closed, l.last = map[int64]bool{}, map[int64]bool{}, nil }

// first reports whether a hit is the first of its lineage. It puts that of the asking
// lineage aside, for end.
func (l *lineages) first(hit found) (bool, error) {
	if l == nil {
		return true, nil
	}
	root, err := l.root(hit.key)
	if err != nil {
		return false, err
	}
	l.closed[hit.key] = true
	if l.taken[root] {
		return false, nil
	}
	l.taken[root] = true
	if root == l.asking {
		l.last = []found{hit}
		return false, nil
	}
	return true, nil
}

// end adds the hit of the asking lineage to all others, which are fewer than the limit.
func (l *lineages) end(hits []found) []found {
	if l == nil {
		return hits
	}
	return append(hits, l.last...)
}

// seen returns sessions of which no further hit is wanted.
func (l *lineages) seen() []int64 {
	if l == nil {
		return nil
	}
	return slices.Collect(maps.Keys(l.closed))
}

// root returns the session with which a lineage began. UNION ends the walk if sessions
// are their own ancestors, as imported ones may be; then the oldest of them is the root.
func (l *lineages) root(session int64) (int64, error) {
	if root, ok := l.roots[session]; ok {
		return root, nil
	}
	var root int64
	err := l.conn.QueryRowContext(l.ctx, `WITH RECURSIVE line(key, parent) AS (
			SELECT key, parent FROM sessions WHERE key = ?
			UNION SELECT s.key, s.parent FROM line JOIN sessions s ON s.key = line.parent)
		SELECT key FROM line ORDER BY EXISTS (SELECT 1 FROM sessions p WHERE p.key = line.parent), key LIMIT 1`, session).Scan(&root)
	if err == nil {
		l.roots[session] = root
	}
	return root, err
}
