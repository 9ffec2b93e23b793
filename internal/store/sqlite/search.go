package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/fulltext"
)

// rankedMost is the number of messages up to which hits are ranked. Ranking reads
// every message with a word; beyond this the newest come first, because a frequent
// word says nothing about rank.
const rankedMost = 3000

// Search finds messages. It ranks hits by their rare terms, with a little weight for
// recent messages.
func (s *Store) Search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error) {
	hits, err := s.search(ctx, q)
	return hits, s.cfg.explain(err)
}

func (s *Store) search(ctx context.Context, q hermes.SearchQuery) ([]hermes.Hit, error) {
	if q.Limit <= 0 {
		q.Limit = 20
	}
	parsed := fulltext.Parse(q.Text)
	if len(parsed.Groups) == 0 {
		return nil, nil
	}
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	f := finder{matcher: matcher{ctx: ctx, conn: conn, oldest: q.Oldest}, wanted: q}
	if q.Lineages {
		if f.lineages, err = newLineages(ctx, conn, q.Asking); err != nil {
			return nil, err
		}
	}
	if q.Session != "" {
		if err := f.within(q.Session); err != nil {
			return nil, err
		}
	}
	hits, err := f.find(parsed)
	if err == nil && len(hits) == 0 && parsed.Simple && len(parsed.Terms()) > 1 {
		hits, err = f.find(f.rarer(parsed.Loose()))
	}
	if err != nil {
		return nil, err
	}
	return f.finish(hits, parsed)
}

// finder is one running search.
type finder struct {
	matcher
	wanted  hermes.SearchQuery
	session int64 // the only session to search, if not 0
	// lineages is set if each lineage is found once.
	lineages *lineages
}

// within limits the search to the messages of a session.
func (f *finder) within(session string) error {
	err := f.conn.QueryRowContext(f.ctx, `SELECT key FROM sessions WHERE id = ?`, session).Scan(&f.session)
	if err != nil {
		return notFound(err, session)
	}
	return f.conn.QueryRowContext(f.ctx, `SELECT coalesce(min(id), 0), coalesce(max(id), 0) + 1 FROM messages
		WHERE session = ?`, f.session).Scan(&f.lo, &f.hi)
}

// find returns the first hits in order, without snippets and surrounding messages.
func (f *finder) find(q fulltext.Query) ([]found, error) {
	if len(q.Groups) == 0 {
		return nil, nil
	}
	all := f.query(q)
	if f.oldest || f.wanted.Newest {
		return f.collect(all, q)
	}
	rare, err := f.rare(q.Terms())
	if err != nil {
		return nil, err
	}
	if len(rare) == 0 {
		return f.collect(all, q)
	}
	candidates, err := take(all, rankedMost+1)
	if err != nil {
		return nil, err
	}
	if len(candidates) > rankedMost {
		return f.collect(all, q)
	}
	ranked, err := f.rank(candidates, rare)
	if err != nil {
		return nil, err
	}
	return f.collect(listed(ranked), q)
}

// take reads the first n of a list.
func take(all ids, n int) ([]int64, error) {
	var list []int64
	for id, err := range all {
		if err != nil {
			return nil, err
		}
		if list = append(list, id); len(list) == n {
			break
		}
	}
	return list, nil
}

func listed(list []int64) ids {
	return func(yield func(int64, error) bool) {
		for _, id := range list {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// found is a message with its session and the row number of the session.
type found struct {
	hermes.Hit
	key int64
}

// collect fetches the messages of a list that pass the filters, up to the limit.
func (f *finder) collect(all ids, q fulltext.Query) ([]found, error) {
	next, stop := iter.Pull2(all)
	defer stop()
	if f.lineages != nil {
		f.lineages.reset()
	}
	var hits []found
	for size := 64; ; size = min(2*size, 1024) {
		chunk := make([]int64, 0, size)
		for len(chunk) < size {
			id, err, ok := next()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			chunk = append(chunk, id)
		}
		if len(chunk) == 0 {
			return f.lineages.end(hits), nil
		}
		more, err := f.fetch(chunk)
		if err != nil {
			return nil, err
		}
		for _, hit := range more {
			if !holds(q, hit.Message) {
				continue
			}
			first, err := f.lineages.first(hit)
			if err != nil {
				return nil, err
			}
			if !first {
				continue
			}
			if hits = append(hits, hit); len(hits) == f.wanted.Limit {
				return hits, nil
			}
		}
	}
}

// holds checks that a run is contiguous, which the grams do not show.
func holds(q fulltext.Query, m hermes.Message) bool {
	text := ""
	has := func(t fulltext.Term) bool {
		if t.Run == "" {
			return true
		}
		if text == "" {
			text = searchable(m)
		}
		return strings.Contains(text, t.Run)
	}
	for _, g := range q.Groups {
		if !slices.ContainsFunc(g.Must, func(t fulltext.Term) bool { return !has(t) }) {
			return true
		}
	}
	return false
}

// fetch reads the messages that pass the filters, in the given order.
func (f *finder) fetch(list []int64) ([]found, error) {
	numbers, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	where, args := f.filter()
	args = append([]any{string(numbers)}, args...)
	rows, err := f.conn.QueryContext(f.ctx, `SELECT `+sessionColumns+`, s.key, `+prefixed("m.", messageColumns)+`
		FROM json_each(?) j CROSS JOIN messages m ON m.id = j.value CROSS JOIN sessions s ON s.key = m.session
		WHERE m.hidden <> 1`+where+` ORDER BY j.key`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []found
	for rows.Next() {
		var hit found
		var r record
		if hit.Session, err = scanSession(rows.Scan, append([]any{&hit.key}, r.fields()...)...); err != nil {
			return nil, err
		}
		if hit.Message, err = r.message(); err != nil {
			return nil, err
		}
		hits = append(hits, hit)
	}
	return hits, rows.Err()
}

func prefixed(prefix, columns string) string {
	return prefix + strings.ReplaceAll(columns, ", ", ", "+prefix)
}

// filter returns the SQL condition of the query's filters.
func (f *finder) filter() (string, []any) {
	var b strings.Builder
	var args []any
	add := func(condition string, values ...any) {
		fmt.Fprintf(&b, " AND %s", condition)
		args = append(args, values...)
	}
	if f.session != 0 {
		add("m.session = ?", f.session)
	}
	if seen := f.lineages.seen(); len(seen) > 0 {
		add("m.session NOT IN (SELECT value FROM json_each(?))", jsonList(seen))
	}
	if len(f.wanted.Platforms) > 0 {
		add("s.source IN (SELECT value FROM json_each(?))", jsonList(f.wanted.Platforms))
	}
	if len(f.wanted.Exclude) > 0 {
		add("s.source NOT IN (SELECT value FROM json_each(?))", jsonList(f.wanted.Exclude))
	}
	if len(f.wanted.Roles) > 0 {
		add("m.role IN (SELECT value FROM json_each(?))", jsonList(f.wanted.Roles))
	}
	addTimes(add, "m.at", f.wanted.After, f.wanted.Before)
	return b.String(), args
}

// finish adds snippets and surrounding messages.
func (f *finder) finish(list []found, q fulltext.Query) ([]hermes.Hit, error) {
	wanted := q.Terms()
	hits := make([]hermes.Hit, 0, len(list))
	for _, h := range list {
		h.Snippet = fulltext.Snippet(searchable(h.Message), wanted)
		if n := f.wanted.Context; n > 0 {
			var err error
			if h.Before, err = f.neighbours(h.key, `id < ?`, `DESC`, h.Message.ID, n); err != nil {
				return nil, err
			}
			slices.Reverse(h.Before)
			if h.After, err = f.neighbours(h.key, `id > ?`, ``, h.Message.ID, n); err != nil {
				return nil, err
			}
		}
		hits = append(hits, h.Hit)
	}
	return hits, nil
}

func (f *finder) neighbours(key int64, side, direction string, id int64, n int) ([]hermes.Message, error) {
	rows, err := f.conn.QueryContext(f.ctx, `SELECT `+messageColumns+` FROM messages
		WHERE session = ? AND `+side+` AND hidden <> 1 AND place IS NULL ORDER BY id `+direction+` LIMIT ?`, key, id, n)
	return scanMessages(rows, err)
}
