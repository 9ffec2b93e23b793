package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"hermes"
)

// held returns the session's row number and checks that the lease is the newest one. A
// session that was never leased accepts the zero fence.
func (t *tx) held(l hermes.Lease) (int64, error) {
	var key, fence int64
	err := t.row(`SELECT s.key, coalesce(l.fence, 0) FROM sessions s LEFT JOIN leases l ON l.session = s.key
		WHERE s.id = ?`, []any{l.Session}, &key, &fence)
	if err != nil {
		return 0, notFound(err, l.Session)
	}
	if l.Fence != fence {
		return 0, fmt.Errorf("session %s: %w", l.Session, hermes.ErrStaleLease)
	}
	return key, nil
}

// Commit stores a change in one transaction, messages with their index entries.
func (s *Store) Commit(ctx context.Context, l hermes.Lease, c hermes.Change) (hermes.Committed, error) {
	entries := make([]entry, len(c.Append))
	for i, m := range c.Append {
		if m.Time.IsZero() {
			m.Time = s.cfg.Now()
		}
		var err error
		if entries[i], err = newEntry(m); err != nil {
			return hermes.Committed{}, err
		}
	}
	var done hermes.Committed
	err := s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		if err := t.takeWaiting(key, c.TakeWaiting); err != nil {
			return err
		}
		if done.IDs, err = t.append(key, entries); err != nil {
			return err
		}
		for _, id := range c.EndCalls {
			if err := t.endCall(key, id); err != nil {
				return err
			}
		}
		return t.addUsage(key, c.Usage)
	})
	if err != nil {
		return hermes.Committed{}, err
	}
	return done, nil
}

// endCall removes a call and those that it invoked from the journal.
func (t *tx) endCall(key int64, id string) error {
	// '0' is the character after '/'.
	return t.exec(`DELETE FROM steps WHERE session = ?1 AND (call_id = ?2 OR call_id > ?2 || '/' AND call_id < ?2 || '0')`, key, id)
}

func (t *tx) addUsage(key int64, u hermes.Usage) error {
	if u == (hermes.Usage{}) {
		return nil
	}
	return t.exec(`UPDATE sessions SET input = input + ?, output = output + ?, cache_read = cache_read + ?,
		cache_write = cache_write + ?, reasoning = reasoning + ?, requests = requests + ? WHERE key = ?`,
		u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls, key)
}

// entry is a message ready to be written.
type entry struct {
	record
	calls        int
	words, grams string
}

func newEntry(m hermes.Message) (entry, error) {
	r, err := encode(m)
	words, grams := indexed(m)
	return entry{record: r, calls: len(m.Calls), words: words, grams: grams}, err
}

// size returns what an entry adds to the total text size.
func (e entry) size() int { return len(e.text.String) + len(e.body.String) }

func (t *tx) append(key int64, entries []entry) ([]int64, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	ids := make([]int64, 0, len(entries))
	var calls, size int
	var turn, active int64
	for _, e := range entries {
		id, err := t.insert(key, e)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		calls += e.calls
		size += e.size()
		turn, active = max(turn, e.turn), max(active, e.at)
	}
	return ids, t.exec(`UPDATE sessions SET messages = messages + ?, calls = calls + ?, bytes = bytes + ?,
		turns = max(turns, ?), active = max(coalesce(active, 0), ?) WHERE key = ?`,
		len(entries), calls, size, turn, active, key)
}

func (t *tx) insert(key int64, e entry) (int64, error) {
	result, err := t.result(`INSERT INTO messages (session, role, turn, at, calls, failed, call_id, tool_name, text, body, outside)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		key, e.role, e.turn, e.at, e.calls, e.failed, e.callID, e.tool, e.text, e.body, e.provenance)
	if err != nil {
		return 0, err
	}
	id, err := result.LastInsertId()
	if err != nil {
		return 0, err
	}
	if e.role == string(hermes.RoleTool) && e.callID.Valid {
		if err := t.endCall(key, e.callID.String); err != nil {
			return 0, err
		}
	}
	return id, t.index(id, e.words, e.grams)
}

// Messages returns the transcript in order, complete or a part of it.
func (s *Store) Messages(ctx context.Context, session string, r hermes.Range) ([]hermes.Message, error) {
	var key int64
	err := s.read.QueryRowContext(ctx, `SELECT key FROM sessions WHERE id = ?`, session).Scan(&key)
	if err != nil {
		return nil, s.cfg.explain(notFound(err, session))
	}
	list, err := s.messages(ctx, key, r)
	return list, s.cfg.explain(err)
}

func (s *Store) messages(ctx context.Context, key int64, r hermes.Range) ([]hermes.Message, error) {
	query, args := rangeQuery(key, r)
	rows, err := s.read.QueryContext(ctx, query, args...)
	list, err := scanMessages(rows, err)
	if r.Last <= 0 {
		return list, err
	}
	if r.First <= 0 {
		slices.Reverse(list)
	}
	return list[max(0, len(list)-r.Last):], err
}

// rangeQuery returns the query of a range. If only the last messages are wanted, it returns
// them from the end.
func rangeQuery(key int64, r hermes.Range) (query string, args []any) {
	query, args = `SELECT `+messageColumns+` FROM messages WHERE session = ?`, []any{key}
	order := "coalesce(place, id)"
	switch {
	case r.Raw:
		query += ` AND hidden <> 1 AND place IS NULL`
		order = "id"
	case !r.Hidden:
		query += ` AND hidden = 0` // as the index messages_order says it
	}
	if r.After != 0 {
		query, args = query+` AND id > ?`, append(args, r.After)
	}
	if r.Before != 0 {
		query, args = query+` AND id < ?`, append(args, r.Before)
	}
	if r.First > 0 {
		return query + ` ORDER BY ` + order + `, id LIMIT ?`, append(args, r.First)
	}
	if r.Last > 0 {
		return query + ` ORDER BY ` + order + ` DESC, id DESC LIMIT ?`, append(args, r.Last)
	}
	return query + ` ORDER BY ` + order + `, id`, args
}

// scanMessages reads rows of messageColumns and closes them.
func scanMessages(rows *sql.Rows, err error) ([]hermes.Message, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var r record
	fields := r.fields()
	var list []hermes.Message
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return nil, err
		}
		m, err := r.message()
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}

// Rewind hides every message from an id on and shows those of back again. It also removes
// calls that began since then.
func (s *Store) Rewind(ctx context.Context, l hermes.Lease, from int64, back ...int64) error {
	ids, err := json.Marshal(back)
	if err != nil {
		return err
	}
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		if len(back) == 0 {
			return t.rewind(key, from)
		}
		// Only what was hidden before comes back.
		const listed = `session = ? AND hidden = 1 AND id IN (SELECT value FROM json_each(?))`
		var messages, calls, size int64
		if err := t.row(counted+listed, []any{key, string(ids)}, &messages, &calls, &size); err != nil {
			return err
		}
		if messages != int64(len(back)) {
			return fmt.Errorf("%d of %d undone messages: %w", messages, len(back), hermes.ErrNotFound)
		}
		if err := t.rewind(key, from); err != nil {
			return err
		}
		if err := t.exec(`UPDATE messages SET hidden = 0 WHERE `+listed, key, string(ids)); err != nil {
			return err
		}
		return t.count(key, messages, calls, size)
	})
}

// counted reads the number of messages and calls and their size in bytes; a condition follows.
const counted = `SELECT count(*), coalesce(sum(calls), 0),
	coalesce(sum(coalesce(octet_length(text), 0) + coalesce(octet_length(body), 0)), 0) FROM messages WHERE `

// count adds to the counts of a session.
func (t *tx) count(key, messages, calls, size int64) error {
	return t.exec(`UPDATE sessions SET messages = messages + ?, calls = calls + ?, bytes = bytes + ? WHERE key = ?`, messages, calls, size, key)
}

// rewind hides every message from an id on and subtracts it from the counts.
func (t *tx) rewind(key, from int64) error {
	// From its position on, which differs from its id after a compaction.
	const since = `session = ? AND hidden = 0 AND coalesce(place, id) >= (SELECT coalesce(place, id) FROM messages WHERE session = ? AND id = ?)`
	var messages, calls, size int64
	err := t.row(counted+since, []any{key, key, from}, &messages, &calls, &size)
	if err != nil || messages == 0 {
		return err
	}
	if err := t.exec(`UPDATE messages SET hidden = 1 WHERE `+since, key, key, from); err != nil {
		return err
	}
	if err := t.exec(`DELETE FROM steps WHERE session = ? AND after >= ?`, key, from); err != nil {
		return err
	}
	return t.count(key, -messages, -calls, -size)
}
