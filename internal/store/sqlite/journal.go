package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"hermes"
)

// BeginCall stores that a call is about to run. It replaces an unfinished call of an
// earlier turn with the same id.
func (s *Store) BeginCall(ctx context.Context, l hermes.Lease, c hermes.ToolCall) error {
	call, err := marshal(c)
	if err != nil {
		return fmt.Errorf("encode call %s: %w", c.Name, err)
	}
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		return t.exec(`INSERT OR REPLACE INTO steps (session, call_id, after, begun, call)
			VALUES (?1, ?2, (SELECT coalesce(max(id), 0) FROM messages WHERE session = ?1), ?3, ?4)`,
			key, c.ID, nanos(s.cfg.Now()), call)
	})
}

// EndCall stores the result of a call that BeginCall stored.
func (s *Store) EndCall(ctx context.Context, l hermes.Lease, callID string, result hermes.Message) error {
	text, err := marshal(result)
	if err != nil {
		return fmt.Errorf("encode the result of call %s: %w", callID, err)
	}
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		done, err := t.result(`UPDATE steps SET result = ? WHERE session = ? AND call_id = ?`, text, key, callID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return orNotFound(err, "call "+callID)
		}
		return nil
	})
}

// SavePending stores the approvals and answers that a call waits for.
func (s *Store) SavePending(ctx context.Context, l hermes.Lease, callID string, h hermes.PendingCall) error {
	text, err := marshal(h)
	if err != nil {
		return fmt.Errorf("encode what call %s waits for: %w", callID, err)
	}
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		done, err := t.result(`UPDATE steps SET hold = ?, asking = ? WHERE session = ? AND call_id = ?`, text, h.Open() != nil, key, callID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return orNotFound(err, "call "+callID)
		}
		return nil
	})
}

func orNotFound(err error, what string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", what, hermes.ErrNotFound)
}

// OpenSteps returns the calls without a stored answer, in the order in which they
// began.
func (s *Store) OpenSteps(ctx context.Context, session string) ([]hermes.Step, error) {
	var key int64
	err := s.read.QueryRowContext(ctx, `SELECT key FROM sessions WHERE id = ?`, session).Scan(&key)
	if err != nil {
		return nil, s.cfg.explain(notFound(err, session))
	}
	rows, err := s.read.QueryContext(ctx, `SELECT begun, call, hold, result FROM steps WHERE session = ? ORDER BY id`, key)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	defer rows.Close()
	var list []hermes.Step
	for rows.Next() {
		step, err := scanStep(rows)
		if err != nil {
			return nil, s.cfg.explain(err)
		}
		list = append(list, step)
	}
	return list, s.cfg.explain(rows.Err())
}

func scanStep(rows *sql.Rows) (hermes.Step, error) {
	var begun int64
	var call string
	var hold, result sql.NullString
	if err := rows.Scan(&begun, &call, &hold, &result); err != nil {
		return hermes.Step{}, err
	}
	step := hermes.Step{Begun: timeOf(begun)}
	if err := json.Unmarshal([]byte(call), &step.Call); err != nil {
		return step, fmt.Errorf("read a journal step: %w", err)
	}
	if hold.Valid {
		if err := json.Unmarshal([]byte(hold.String), &step.Pending); err != nil {
			return step, fmt.Errorf("read what a journal step waits for: %w", err)
		}
	}
	if !result.Valid {
		return step, nil
	}
	step.Result = new(hermes.Message)
	if err := json.Unmarshal([]byte(result.String), step.Result); err != nil {
		return step, fmt.Errorf("read the result of a journal step: %w", err)
	}
	return step, nil
}
