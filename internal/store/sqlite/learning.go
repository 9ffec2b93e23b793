package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/fulltext"
)

var _ hermes.Learnings = (*Store)(nil)

const learningColumns = `id, tool, class, pattern, fix, context, tags, session, created, touched, seen, shown, helped, failed, outside`

// learningWords returns the text that a search by words reads.
func learningWords(l hermes.Learning) string {
	return strings.ToLower(strings.Join(append([]string{l.Tool, l.Class, l.Pattern, l.Fix, l.Context}, l.Tags...), "\n"))
}

// scanLearning reads a row of learningColumns.
func scanLearning(scan func(...any) error) (hermes.Learning, error) {
	var l hermes.Learning
	var tags string
	var created, touched int64
	err := scan(&l.ID, &l.Tool, &l.Class, &l.Pattern, &l.Fix, &l.Context, &tags, &l.Session, &created, &touched, &l.Seen, &l.Shown, &l.Helped, &l.Failed, &l.Provenance)
	if err != nil {
		return l, err
	}
	l.Created, l.Touched = timeOf(created), timeOf(touched)
	if err := json.Unmarshal([]byte(tags), &l.Tags); err != nil {
		return l, fmt.Errorf("tags of learning %d: %w", l.ID, err)
	}
	if len(l.Tags) == 0 {
		l.Tags = nil
	}
	return l, nil
}

// learning reads the row of a failure within a write transaction.
func (t *tx) learning(l hermes.Learning) (hermes.Learning, error) {
	return scanLearning(func(into ...any) error {
		return t.row(`SELECT `+learningColumns+` FROM learnings WHERE tool = ? AND class = ? AND pattern = ?`, []any{l.Tool, l.Class, l.Pattern}, into...)
	})
}

// one runs a statement that must change the learning with this id.
func (t *tx) one(id int64, query string, args ...any) error {
	done, err := t.result(query, args...)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("learning %d: %w", id, hermes.ErrNotFound)
}

// SaveLearning stores the fix of a failure.
func (s *Store) SaveLearning(ctx context.Context, l hermes.Learning) (hermes.Learning, error) {
	tags, err := marshal(append([]string{}, l.Tags...))
	if err != nil {
		return l, err
	}
	var stored hermes.Learning
	err = s.update(ctx, func(t *tx) error {
		at := nanos(l.Touched)
		err := t.exec(`INSERT INTO learnings (tool, class, pattern, fix, context, tags, words, session, outside, created, touched) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tool, class, pattern) DO UPDATE SET fix = excluded.fix, context = excluded.context, tags = excluded.tags, words = excluded.words,
			session = excluded.session, outside = excluded.outside, touched = max(touched, excluded.touched)`,
			l.Tool, l.Class, l.Pattern, l.Fix, l.Context, tags, learningWords(l), l.Session, l.Provenance, at, at)
		if err != nil {
			return err
		}
		stored, err = t.learning(l)
		return err
	})
	return stored, err
}

// NoteFailure counts a failure.
func (s *Store) NoteFailure(ctx context.Context, l hermes.Learning) (hermes.Learning, error) {
	var stored hermes.Learning
	err := s.update(ctx, func(t *tx) error {
		at := nanos(l.Touched)
		err := t.exec(`INSERT INTO learnings (tool, class, pattern, words, session, created, touched, seen) VALUES (?, ?, ?, ?, ?, ?, ?, 1)
			ON CONFLICT (tool, class, pattern) DO UPDATE SET seen = seen + 1, touched = max(touched, excluded.touched)`,
			l.Tool, l.Class, l.Pattern, learningWords(l), l.Session, at, at)
		if err != nil {
			return err
		}
		stored, err = t.learning(l)
		return err
	})
	return stored, err
}

// NoteFix counts an outcome of a fix.
func (s *Store) NoteFix(ctx context.Context, id int64, what hermes.FixOutcome, at time.Time) error {
	column := ""
	switch what {
	case hermes.FixShown, hermes.FixHelped, hermes.FixFailed:
		column = string(what)
	default:
		return fmt.Errorf("unknown outcome %q of a fix", what)
	}
	return s.update(ctx, func(t *tx) error {
		return t.one(id, `UPDATE learnings SET `+column+` = `+column+` + 1, touched = max(touched, ?) WHERE id = ?`, nanos(at), id)
	})
}

// FindLearnings returns learnings, most recently touched first.
func (s *Store) FindLearnings(ctx context.Context, q hermes.LearningQuery) ([]hermes.Learning, error) {
	where, args := []string{"1"}, []any{}
	and := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if q.Tool != "" {
		and("tool = ?", q.Tool)
	}
	if q.Class != "" {
		and("class = ?", q.Class)
	}
	if q.Pattern != "" {
		and("pattern = ?", q.Pattern)
	}
	if q.Known {
		where = append(where, "fix <> ''")
	}
	if q.Tag != "" {
		and("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", q.Tag)
	}
	for i, w := range strings.Fields(strings.ToLower(q.Text)) {
		if i == fulltext.MaxTerms {
			break
		}
		and("instr(words, ?) > 0", w)
	}
	limit := q.Limit
	if limit == 0 {
		limit = 20
	}
	rows, err := s.read.QueryContext(ctx, `SELECT `+learningColumns+` FROM learnings WHERE `+strings.Join(where, " AND ")+` ORDER BY touched DESC, id DESC LIMIT ?`, append(args, limit)...)
	if err != nil {
		return nil, s.cfg.explain(err)
	}
	defer rows.Close()
	var list []hermes.Learning
	for rows.Next() {
		l, err := scanLearning(rows.Scan)
		if err != nil {
			return nil, s.cfg.explain(err)
		}
		list = append(list, l)
	}
	return list, s.cfg.explain(rows.Err())
}

// ForgetLearnings removes the given learnings and those that have expired.
func (s *Store) ForgetLearnings(ctx context.Context, f hermes.Forgetting) (int, error) {
	removed := 0
	err := s.update(ctx, func(t *tx) error {
		removed = 0 // a transaction may run twice
		drop := func(query string, args ...any) error {
			done, err := t.result(query, args...)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			removed += int(n)
			return err
		}
		for _, id := range f.IDs {
			if err := drop(`DELETE FROM learnings WHERE id = ?`, id); err != nil {
				return err
			}
		}
		if !f.Unknown.IsZero() {
			if err := drop(`DELETE FROM learnings WHERE fix = '' AND touched < ?`, nanos(f.Unknown)); err != nil {
				return err
			}
		}
		if !f.Known.IsZero() {
			if err := drop(`DELETE FROM learnings WHERE touched < ?`, nanos(f.Known)); err != nil {
				return err
			}
		}
		if f.Most > 0 {
			return drop(`DELETE FROM learnings WHERE id IN (SELECT id FROM learnings ORDER BY fix <> '' DESC, touched DESC, id DESC LIMIT -1 OFFSET ?)`, f.Most)
		}
		return nil
	})
	return removed, err
}

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
