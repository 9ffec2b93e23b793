package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// questionBody is what a row has of a question as JSON.
type questionBody struct {
	Asked hermes.Asked `json:"asked"`
	Reply hermes.Reply `json:"reply,omitzero"`
	By    hermes.From  `json:"by,omitzero"`
}

// SaveQuestion stores a question, or replaces one that is open.
func (s *Store) SaveQuestion(ctx context.Context, l hermes.Lease, q hermes.StoredQuestion) error {
	q = q.Storable()
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		old, err := t.question(key, q.Asked.ID)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return err
		case old.Answered:
			return hermes.ErrAnswered{By: old.By}
		case !old.Closed.IsZero():
			return fmt.Errorf("question %s is no longer open: %w", q.Asked.ID, hermes.ErrNotFound)
		}
		return t.saveQuestion(key, q)
	})
}

func (t *tx) saveQuestion(key int64, q hermes.StoredQuestion) error {
	body, err := marshal(questionBody{q.Asked, q.Reply, q.By})
	if err != nil {
		return fmt.Errorf("encode question %s: %w", q.Asked.ID, err)
	}
	return t.exec(`INSERT INTO questions (session, name, asked, escalated, closed, answered, body) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, name) DO UPDATE SET asked = excluded.asked, escalated = excluded.escalated,
			closed = excluded.closed, answered = excluded.answered, body = excluded.body`,
		key, q.Asked.ID, nanos(q.Asked.At), nullTime(q.Escalated), nullTime(q.Closed), q.Answered, body)
}

// CloseQuestions closes all open questions of a session without an answer.
func (s *Store) CloseQuestions(ctx context.Context, l hermes.Lease) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.held(l)
		if err != nil {
			return err
		}
		open, err := t.openQuestions(key)
		if err != nil {
			return err
		}
		for _, q := range open {
			q.Closed = s.cfg.Now()
			if err := t.saveQuestion(key, q.Storable()); err != nil {
				return err
			}
		}
		return nil
	})
}

const selectQuestions = `SELECT s.id, q.name, q.escalated, q.closed, q.answered, q.body FROM questions q JOIN sessions s ON s.key = q.session `

func (t *tx) question(key int64, id string) (hermes.StoredQuestion, error) {
	stmt, err := t.stmt(selectQuestions + `WHERE q.session = ? AND q.name = ?`)
	if err != nil {
		return hermes.StoredQuestion{}, err
	}
	return scanQuestion(stmt.QueryRow(key, id))
}

func (t *tx) openQuestions(key int64) ([]hermes.StoredQuestion, error) {
	stmt, err := t.stmt(selectQuestions + `WHERE q.session = ? AND q.closed IS NULL`)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.Query(key)
	return scanQuestions(rows, err)
}

// FindQuestion returns a question.
func (s *Store) FindQuestion(ctx context.Context, session, id string) (hermes.StoredQuestion, error) {
	q, err := scanQuestion(s.read.QueryRowContext(ctx, selectQuestions+`WHERE s.id = ? AND q.name = ?`, session, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("question %s of session %s: %w", id, session, hermes.ErrNotFound)
	}
	return q, s.cfg.explain(err)
}

// OpenQuestions returns the questions that are not closed, and those that the filter adds, oldest first.
func (s *Store) OpenQuestions(ctx context.Context, f hermes.QuestionFilter) ([]hermes.StoredQuestion, error) {
	query, args := openQuery(f)
	rows, err := s.read.QueryContext(ctx, query, args...)
	list, err := scanQuestions(rows, err)
	return list, s.cfg.explain(err)
}

func openQuery(f hermes.QuestionFilter) (query string, args []any) {
	where := []string{"q.closed IS NULL"}
	if !f.ClosedSince.IsZero() { // with OR, the index of open questions would not be used
		where = []string{`q.id IN (SELECT id FROM questions WHERE closed IS NULL
			UNION ALL SELECT id FROM (SELECT id, closed FROM questions ORDER BY id DESC LIMIT ?) WHERE closed >= ?)`}
		args = append(args, hermes.NewestQuestions, nanos(f.ClosedSince))
	}
	if f.Session != "" {
		where, args = append(where, "s.id = ?"), append(args, f.Session)
	}
	if f.Escalated {
		where = append(where, "q.escalated IS NOT NULL")
	}
	return selectQuestions + "WHERE " + strings.Join(where, " AND ") + " ORDER BY q.asked, q.id", args
}

func scanQuestions(rows *sql.Rows, err error) ([]hermes.StoredQuestion, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []hermes.StoredQuestion
	for rows.Next() {
		q, err := scanQuestion(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, q)
	}
	return list, rows.Err()
}

func scanQuestion(row interface{ Scan(...any) error }) (hermes.StoredQuestion, error) {
	var q hermes.StoredQuestion
	var name, text string
	var escalated, closed sql.NullInt64
	if err := row.Scan(&q.Session, &name, &escalated, &closed, &q.Answered, &text); err != nil {
		return q, err
	}
	var body questionBody
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		return q, fmt.Errorf("read question %s of session %s: %w", name, q.Session, err)
	}
	q.Asked, q.Reply, q.By = body.Asked, body.Reply, body.By
	q.Escalated, q.Closed = timeOf(escalated.Int64), timeOf(closed.Int64)
	return q, nil
}
