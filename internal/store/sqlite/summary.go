package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"hermes"
	"hermes/internal/fulltext"
)

var _ hermes.Summaries = (*Store)(nil)

// SaveSummary stores the summary of a session.
func (s *Store) SaveSummary(ctx context.Context, m hermes.Summary) error {
	return s.update(ctx, func(t *tx) error {
		key, err := t.key(m.Session)
		if err != nil {
			return err
		}
		return t.exec(`INSERT INTO session_summaries (session, text, words, at) VALUES (?, ?, ?, ?)
			ON CONFLICT (session) DO UPDATE SET text = excluded.text, words = excluded.words, at = excluded.at`,
			key, m.Text, strings.ToLower(m.Text), nanos(m.At))
	})
}

// Summaries returns the summaries of sessions.
func (s *Store) Summaries(ctx context.Context, sessions ...string) (map[string]hermes.Summary, error) {
	out := map[string]hermes.Summary{}
	if len(sessions) == 0 {
		return out, nil
	}
	ids, err := marshal(sessions)
	if err != nil {
		return nil, err
	}
	list, err := s.summaries(ctx, `s.id IN (SELECT value FROM json_each(?))`, len(sessions), ids)
	for _, m := range list {
		out[m.Session] = m
	}
	return out, err
}

// FindSummaries returns summaries by their words.
func (s *Store) FindSummaries(ctx context.Context, text string, limit int) ([]hermes.Summary, error) {
	if limit <= 0 {
		limit = 20
	}
	var where []string
	var args []any
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if len(where) == fulltext.MaxTerms {
			break
		}
		where, args = append(where, "instr(m.words, ?) > 0"), append(args, w)
	}
	if len(where) == 0 {
		return nil, nil
	}
	return s.summaries(ctx, strings.Join(where, " AND "), limit, args...)
}

func (s *Store) summaries(ctx context.Context, where string, limit int, args ...any) ([]hermes.Summary, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT s.id, m.text, m.at FROM session_summaries m JOIN sessions s ON s.key = m.session
		WHERE `+where+` ORDER BY m.at DESC, m.session DESC LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	list, err := scanSummaries(rows)
	return list, s.cfg.explain(err)
}

func scanSummaries(rows *sql.Rows) ([]hermes.Summary, error) {
	defer rows.Close()
	var list []hermes.Summary
	for rows.Next() {
		var m hermes.Summary
		var at int64
		if err := rows.Scan(&m.Session, &m.Text, &at); err != nil {
			return nil, err
		}
		m.At = timeOf(at)
		list = append(list, m)
	}
	return list, rows.Err()
}
