package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"hermes"
)

// AddWaiting stores a message that waits for the end of a turn.
func (s *Store) AddWaiting(ctx context.Context, l hermes.Lease, m hermes.WaitingMessage) (int64, error) {
	text, err := marshal(m.Message)
	if err != nil {
		return 0, fmt.Errorf("encode a waiting message: %w", err)
	}
	var id int64
	err = s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		return t.row(`INSERT INTO waiting (session, urgent, message) VALUES (?, ?, ?) RETURNING id`, []any{key, m.Urgent, text}, &id)
	})
	return id, err
}

// WaitingMessages returns what waits, in the order in which to answer it.
func (s *Store) WaitingMessages(ctx context.Context, session string) ([]hermes.WaitingMessage, error) {
	list, err := s.waitingMessages(ctx, session)
	return list, s.cfg.explain(err)
}

func (s *Store) waitingMessages(ctx context.Context, session string) ([]hermes.WaitingMessage, error) {
	var key int64
	if err := s.read.QueryRowContext(ctx, `SELECT key FROM sessions WHERE id = ?`, session).Scan(&key); err != nil {
		return nil, notFound(err, session)
	}
	rows, err := s.read.QueryContext(ctx, `SELECT id, urgent, message FROM waiting WHERE session = ?
		ORDER BY urgent DESC, CASE WHEN urgent THEN -id ELSE id END`, key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []hermes.WaitingMessage
	for rows.Next() {
		var w hermes.WaitingMessage
		var text string
		if err := rows.Scan(&w.ID, &w.Urgent, &text); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(text), &w.Message); err != nil {
			return nil, fmt.Errorf("read waiting message %d: %w", w.ID, err)
		}
		list = append(list, w)
	}
	return list, rows.Err()
}

// DropWaiting deletes waiting messages.
func (s *Store) DropWaiting(ctx context.Context, l hermes.Lease, ids ...int64) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := t.exec(`DELETE FROM waiting WHERE session = ? AND id = ?`, key, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeWaiting deletes waiting messages that become part of the transcript.
func (t *tx) takeWaiting(key int64, ids []int64) error {
	for _, id := range ids {
		done, err := t.result(`DELETE FROM waiting WHERE session = ? AND id = ?`, key, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return orNotFound(err, fmt.Sprintf("waiting message %d", id))
		}
	}
	return nil
}
