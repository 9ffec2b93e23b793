package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"hermes"
)

// PutLearning stores a learning unchanged.
func (s *Store) PutLearning(ctx context.Context, l hermes.Learning) (hermes.Learning, error) {
	tags, err := marshal(append([]string{}, l.Tags...))
	if err != nil {
		return l, err
	}
	var stored hermes.Learning
	err = s.update(ctx, func(t *tx) error {
		err := t.exec(`INSERT INTO learnings (`+learningColumns+`, words)
			VALUES ((SELECT ?1 WHERE ?1 > 0 AND NOT EXISTS (SELECT 1 FROM learnings WHERE id = ?1)), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tool, class, pattern) DO UPDATE SET fix = excluded.fix, context = excluded.context, tags = excluded.tags, session = excluded.session,
			created = excluded.created, touched = excluded.touched, seen = excluded.seen, shown = excluded.shown, helped = excluded.helped,
			failed = excluded.failed, outside = excluded.outside, words = excluded.words`,
			l.ID, l.Tool, l.Class, l.Pattern, l.Fix, l.Context, tags, l.Session, nanos(l.Created), nanos(l.Touched), l.Seen, l.Shown, l.Helped, l.Failed, l.Provenance, learningWords(l))
		if err != nil {
			return err
		}
		stored, err = t.learning(l)
		return err
	})
	return stored, err
}

// MergeLearnings merges several learnings into one.
func (s *Store) MergeLearnings(ctx context.Context, l hermes.Learning, others ...int64) (hermes.Learning, error) {
	tags, err := marshal(append([]string{}, l.Tags...))
	if err != nil {
		return l, err
	}
	var stored hermes.Learning
	err = s.update(ctx, func(t *tx) error {
		for _, id := range others {
			if id == l.ID {
				continue
			}
			if err := t.one(id, `UPDATE learnings SET (seen, shown, helped, failed, created, touched) =
				(SELECT learnings.seen + o.seen, learnings.shown + o.shown, learnings.helped + o.helped, learnings.failed + o.failed,
				 min(learnings.created, o.created), max(learnings.touched, o.touched) FROM learnings o WHERE o.id = ?)
				WHERE id = ? AND EXISTS (SELECT 1 FROM learnings WHERE id = ?)`, id, l.ID, id); err != nil {
				return err
			}
			if err := t.exec(`DELETE FROM learnings WHERE id = ?`, id); err != nil {
				return err
			}
		}
		var err error
		if stored, err = t.learningOf(l.ID); err != nil {
			return err
		}
		stored.Fix, stored.Context, stored.Tags, stored.Session, stored.Provenance = l.Fix, l.Context, l.Tags, l.Session, l.Provenance
		return t.exec(`UPDATE learnings SET fix = ?, context = ?, tags = ?, session = ?, outside = ?, words = ? WHERE id = ?`,
			l.Fix, l.Context, tags, l.Session, l.Provenance, learningWords(stored), l.ID)
	})
	return stored, err
}

// learningOf reads the row with an id within a write transaction; ErrNotFound if there
// is none.
func (t *tx) learningOf(id int64) (hermes.Learning, error) {
	l, err := scanLearning(func(into ...any) error {
		return t.row(`SELECT `+learningColumns+` FROM learnings WHERE id = ?`, []any{id}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("learning %d: %w", id, hermes.ErrNotFound)
	}
	return l, err
}
