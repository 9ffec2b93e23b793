package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"hermes"
)

// The values of messages.hidden. A search does not find rewound messages, but still
// finds compacted ones.
const (
	rewound   = 1
	compacted = 2
)

// Compact hides messages and inserts others instead, in one transaction. The inserted
// messages repeat the hidden ones, so they are not indexed.
func (s *Store) Compact(ctx context.Context, l hermes.Lease, c hermes.Compaction) ([]int64, error) {
	hide, err := json.Marshal(c.Hide)
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(c.Insert))
	for i, p := range c.Insert {
		m := p.Message
		if m.Time.IsZero() {
			m.Time = s.cfg.Now()
		}
		if entries[i], err = newEntry(m); err != nil {
			return nil, err
		}
		entries[i].words, entries[i].grams = "", ""
	}
	var ids []int64
	err = s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		if err := t.hide(key, string(hide)); err != nil {
			return err
		}
		if ids, err = t.append(key, entries); err != nil {
			return err
		}
		return t.put(key, c.Insert, ids)
	})
	if err != nil {
		return nil, err
	}
	return ids, nil
}

// hide removes messages from the transcript and from its counts.
func (t *tx) hide(key int64, ids string) error {
	const listed = `FROM messages WHERE session = ? AND id IN (SELECT value FROM json_each(?)) AND NOT hidden`
	var messages, calls, size int64
	err := t.row(`SELECT count(*), coalesce(sum(calls), 0),
		coalesce(sum(coalesce(octet_length(text), 0) + coalesce(octet_length(body), 0)), 0) `+listed,
		[]any{key, ids}, &messages, &calls, &size)
	if err != nil {
		return err
	}
	err = t.exec(`UPDATE messages SET hidden = ? WHERE session = ? AND id IN (SELECT value FROM json_each(?)) AND NOT hidden`,
		compacted, key, ids)
	if err != nil {
		return err
	}
	return t.exec(`UPDATE sessions SET messages = messages - ?, calls = calls - ?, bytes = bytes - ? WHERE key = ?`,
		messages, calls, size, key)
}

// put sets the positions of inserted messages.
func (t *tx) put(key int64, insertion []hermes.Insertion, ids []int64) error {
	for i, p := range insertion {
		var at int64
		err := t.row(`SELECT coalesce(place, id) FROM messages WHERE session = ? AND id = ?`, []any{key, p.At}, &at)
		if err != nil {
			return fmt.Errorf("find the position of a message: %w", notFound(err, fmt.Sprint(p.At)))
		}
		if err := t.exec(`UPDATE messages SET place = ? WHERE id = ?`, at, ids[i]); err != nil {
			return err
		}
	}
	return nil
}
