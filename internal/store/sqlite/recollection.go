package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/fulltext"
	"hermes/internal/order"
)

var _ hermes.Recollections = (*Store)(nil)

const (
	// maxVectors limits how many vectors, the newest, a query is compared with.
	maxVectors = 5000
	// maxCandidates limits the results of each kind of search.
	maxCandidates = 50
)

// Remember stores texts; a text that is already stored gets the later time.
func (s *Store) Remember(ctx context.Context, most int, list ...hermes.Recollection) error {
	return s.update(ctx, func(t *tx) error {
		for _, r := range list {
			if err := t.remember(r); err != nil {
				return err
			}
		}
		if most > 0 {
			return t.forgetOldest(most)
		}
		return nil
	})
}

func (t *tx) remember(r hermes.Recollection) error {
	sum := sha256.Sum256([]byte(r.Text))
	var id int64
	err := t.row(`SELECT id FROM recollections WHERE hash = ?`, []any{sum[:16]}, &id)
	if err == nil {
		return t.exec(`UPDATE recollections SET at = max(at, ?), outside = CASE outside WHEN '' THEN ? ELSE outside END WHERE id = ?`, nanos(r.At), r.Provenance, id)
	}
	if err != sql.ErrNoRows {
		return err
	}
	made, err := t.result(`INSERT INTO recollections (hash, session, at, text, vector, outside) VALUES (?, ?, ?, ?, ?, ?)`,
		sum[:16], r.Session, nanos(r.At), r.Text, asBytes(r.Vector), r.Provenance)
	if err != nil {
		return err
	}
	if id, err = made.LastInsertId(); err != nil {
		return err
	}
	return t.indexRecollection(id, r.Text)
}

// indexRecollections indexes the texts that were copied without index entries.
func (s *Store) indexRecollections(ctx context.Context) error {
	list, err := s.recollections(ctx, `1`)
	if err != nil {
		return err
	}
	return s.update(ctx, func(t *tx) error {
		for _, r := range list {
			if err := t.indexRecollection(r.ID, r.Text); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) indexRecollection(id int64, text string) error {
	words, grams := fulltext.Split(text)
	if words != "" {
		if err := t.exec(`INSERT INTO recollection_words (rowid, text) VALUES (?, ?)`, id, words); err != nil {
			return err
		}
	}
	if grams != "" {
		return t.exec(`INSERT INTO recollection_grams (rowid, text) VALUES (?, ?)`, id, grams)
	}
	return nil
}

func (t *tx) forgetOldest(most int) error {
	for _, from := range []string{
		`DELETE FROM recollection_words WHERE rowid IN (SELECT id FROM recollections ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)`,
		`DELETE FROM recollection_grams WHERE rowid IN (SELECT id FROM recollections ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)`,
		`DELETE FROM recollections WHERE id IN (SELECT id FROM recollections ORDER BY at DESC, id DESC LIMIT -1 OFFSET ?)`,
	} {
		if err := t.exec(from, most); err != nil {
			return err
		}
	}
	return nil
}

// ForgetRecollection removes one text.
func (s *Store) ForgetRecollection(ctx context.Context, id int64) error {
	return s.update(ctx, func(t *tx) error {
		for _, from := range []string{`DELETE FROM recollection_words WHERE rowid = ?`, `DELETE FROM recollection_grams WHERE rowid = ?`} {
			if err := t.exec(from, id); err != nil {
				return err
			}
		}
		done, err := t.result(`DELETE FROM recollections WHERE id = ?`, id)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return fmt.Errorf("recollection %d: %w", id, hermes.ErrNotFound)
	})
}

// Recollect finds texts by words and by vector.
func (s *Store) Recollect(ctx context.Context, q hermes.RecollectionQuery) ([]hermes.Recollection, error) {
	list, err := s.recollect(ctx, q)
	return list, s.cfg.explain(err)
}

func (s *Store) recollect(ctx context.Context, q hermes.RecollectionQuery) ([]hermes.Recollection, error) {
	if q.Limit <= 0 {
		q.Limit = 10
	}
	wanted := fulltext.Parse(strings.ReplaceAll(q.Text, `"`, " ")).Terms()
	if len(wanted) == 0 && len(q.Vector) == 0 {
		return s.recollections(ctx, `(session <> ? OR session = '') ORDER BY at DESC, id DESC LIMIT ?`, q.Exclude, q.Limit)
	}
	near, err := s.nearest(ctx, q.Vector)
	if err != nil {
		return nil, err
	}
	ids, err := s.worded(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for id := range near {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	var found []hermes.Recollection
	for _, id := range ids {
		list, err := s.recollections(ctx, `id = ? AND (session <> ? OR session = '')`, id, q.Exclude)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			r.Score = score(r, wanted, q.Vector)
			if r.Score > 0 && r.Score >= q.Least {
				found = append(found, r)
			}
		}
	}
	order.By(found, func(a, b hermes.Recollection) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), b.At.Compare(a.At), cmp.Compare(b.ID, a.ID))
	})
	return found[:min(len(found), q.Limit)], nil
}

func (s *Store) recollections(ctx context.Context, where string, args ...any) ([]hermes.Recollection, error) {
	rows, err := s.read.QueryContext(ctx, `SELECT id, session, at, text, vector, outside FROM recollections WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []hermes.Recollection
	for rows.Next() {
		var r hermes.Recollection
		var at int64
		var vector []byte
		if err := rows.Scan(&r.ID, &r.Session, &at, &r.Text, &vector, &r.Provenance); err != nil {
			return nil, err
		}
		r.At, r.Vector = timeOf(at), asInts(vector)
		list = append(list, r)
	}
	return list, rows.Err()
}

// worded returns the texts that contain words of the query, best first.
func (s *Store) worded(ctx context.Context, wanted []fulltext.Term) ([]int64, error) {
	words, grams := fulltext.ByIndex(wanted)
	var ids []int64
	for _, look := range []struct {
		table string
		terms []fulltext.Term
	}{{"recollection_words", words}, {"recollection_grams", grams}} {
		if len(look.terms) == 0 {
			continue
		}
		rows, err := s.read.QueryContext(ctx, `SELECT rowid FROM `+look.table+` WHERE `+look.table+` MATCH ? ORDER BY rank LIMIT ?`, fulltext.Join(look.terms, "OR"), maxCandidates)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				rows.Close()
				return nil, err
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if err := rows.Close(); err != nil {
			return nil, err
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// nearest returns the texts whose vectors are most similar to this one.
func (s *Store) nearest(ctx context.Context, vector []int8) (map[int64]float64, error) {
	if len(vector) == 0 {
		return nil, nil
	}
	rows, err := s.read.QueryContext(ctx, `SELECT id, vector FROM recollections ORDER BY at DESC LIMIT ?`, maxVectors)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	type near struct {
		id int64
		by float64
	}
	var best []near
	for rows.Next() {
		var id int64
		var raw sql.RawBytes
		if err := rows.Scan(&id, &raw); err != nil {
			return nil, err
		}
		if by := likeness(vector, raw); by > 0 {
			best = append(best, near{id, by})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	order.By(best, func(a, b near) int { return cmp.Compare(b.by, a.by) })
	out := map[int64]float64{}
	for _, n := range best[:min(len(best), maxCandidates)] {
		out[n.id] = n.by
	}
	return out, nil
}
