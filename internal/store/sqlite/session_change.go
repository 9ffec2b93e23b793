package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"hermes"
)

// key returns the row number of a session.
func (t *tx) key(id string) (int64, error) {
	var key int64
	err := t.row(`SELECT key FROM sessions WHERE id = ?`, []any{id}, &key)
	return key, notFound(err, id)
}

// UpdateSession changes the fields that are set in c, all of them or none.
func (s *Store) UpdateSession(ctx context.Context, id string, c hermes.SessionChange) error {
	title := ""
	if c.Title != nil {
		var err error
		if title, err = hermes.CleanTitle(*c.Title); err != nil {
			return err
		}
	}
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(id)
		if err != nil {
			return err
		}
		if c.Title != nil {
			if err := t.titleTaken(title, id); err != nil {
				return err
			}
			err := t.exec(`UPDATE sessions SET title = ?, folded = ? WHERE key = ?`, nullable(title), strings.ToLower(title), key)
			if err != nil {
				return sessionConflict(err, id, title)
			}
		}
		if err := t.changeTexts(key, c); err != nil {
			return err
		}
		return t.changeState(key, c, nanos(s.cfg.Now()))
	})
}

func (t *tx) changeTexts(key int64, c hermes.SessionChange) error {
	if c.Model != nil {
		if err := t.exec(`UPDATE sessions SET model = ? WHERE key = ?`, *c.Model, key); err != nil {
			return err
		}
	}
	if c.Dir != nil {
		if err := t.exec(`UPDATE sessions SET dir = ? WHERE key = ?`, *c.Dir, key); err != nil {
			return err
		}
	}
	if c.Run != nil {
		if err := t.exec(`UPDATE sessions SET run = ? WHERE key = ?`, encodeRun(*c.Run), key); err != nil {
			return err
		}
	}
	if c.TaskEnded != "" {
		if err := t.exec(`UPDATE sessions SET run = json_set(coalesce(run, '{}'), '$.origin.task.ended', ?, '$.origin.task.failure', ?) WHERE key = ?`, string(c.TaskEnded), c.TaskFailure, key); err != nil {
			return err
		}
	}
	if c.Provenance != nil {
		if err := t.exec(`UPDATE sessions SET outside = ? WHERE key = ?`, *c.Provenance, key); err != nil {
			return err
		}
	}
	if c.System != nil {
		if err := t.setPrompt(`UPDATE sessions SET system = ? WHERE key = ?`, key, *c.System); err != nil {
			return err
		}
	}
	if c.Tools != nil {
		if err := t.setPrompt(`UPDATE sessions SET tools = ? WHERE key = ?`, key, string(*c.Tools)); err != nil {
			return err
		}
	}
	if c.Layers != nil {
		return t.setPrompt(`UPDATE sessions SET layers = ? WHERE key = ?`, key, encodeLayers(*c.Layers))
	}
	return nil
}

func (t *tx) setPrompt(query string, key int64, text string) error {
	id, err := t.prompt(text)
	if err != nil {
		return err
	}
	return t.exec(query, id, key)
}

func (t *tx) changeState(key int64, c hermes.SessionChange, now int64) error {
	if c.Archived != nil {
		if err := t.exec(`UPDATE sessions SET archived = ? WHERE key = ?`, *c.Archived, key); err != nil {
			return err
		}
	}
	if c.Pinned != nil {
		if err := t.exec(`UPDATE sessions SET pinned = ? WHERE key = ?`, *c.Pinned, key); err != nil {
			return err
		}
	}
	if c.Reopen {
		if err := t.exec(`UPDATE sessions SET ended = NULL, end_reason = '' WHERE key = ?`, key); err != nil {
			return err
		}
	}
	if c.End == "" {
		return nil
	}
	return t.exec(`UPDATE sessions SET ended = ?, end_reason = ? WHERE key = ? AND ended IS NULL`, now, c.End, key)
}

// DeleteSession removes a session, its messages and their index entries.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(id)
		if err != nil {
			return err
		}
		return t.remove(key)
	})
}

// remove deletes a session by its row number.
func (t *tx) remove(key int64) error {
	for _, query := range []string{
		`DELETE FROM words WHERE rowid IN (SELECT id FROM messages WHERE session = ?)`,
		`DELETE FROM grams WHERE rowid IN (SELECT id FROM messages WHERE session = ?)`,
		`DELETE FROM messages WHERE session = ?`,
		`DELETE FROM waiting WHERE session = ?`,
		`DELETE FROM steps WHERE session = ?`,
		`DELETE FROM questions WHERE session = ?`,
		`DELETE FROM leases WHERE session = ?`,
		`UPDATE sessions SET parent = NULL WHERE parent = ?`,
	} {
		if err := t.exec(query, key); err != nil {
			return err
		}
	}
	var system, tools, layers sql.NullInt64
	err := t.row(`DELETE FROM sessions WHERE key = ? RETURNING system, tools, layers`, []any{key}, &system, &tools, &layers)
	if err != nil {
		return err
	}
	for _, id := range []sql.NullInt64{system, tools, layers} {
		err := t.exec(`DELETE FROM prompts WHERE id = ?1 AND NOT EXISTS
			(SELECT 1 FROM sessions WHERE system = ?1 OR tools = ?1 OR layers = ?1)`, id)
		if err != nil {
			return err
		}
	}
	return nil
}
