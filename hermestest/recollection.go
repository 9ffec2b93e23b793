package hermestest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"hermes"
)

var _ hermes.Recollections = (*Recollections)(nil)

// Recollections is a [hermes.Recollections] in memory. The zero value is ready
// to use.
type Recollections struct {
	mu   sync.Mutex
	rows []hermes.Recollection
	last int64
}

// Remember stores texts; a stored text gets the later time.
func (s *Recollections) Remember(_ context.Context, most int, list ...hermes.Recollection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range list {
		i := slices.IndexFunc(s.rows, func(have hermes.Recollection) bool { return have.Text == r.Text })
		if i >= 0 {
			if r.At.After(s.rows[i].At) {
				s.rows[i].At = r.At
			}
			s.rows[i].Provenance = cmp.Or(s.rows[i].Provenance, r.Provenance)
			continue
		}
		s.last++
		r.ID, r.Score, r.Vector = s.last, 0, slices.Clone(r.Vector)
		s.rows = append(s.rows, r)
	}
	s.newestFirst(s.rows)
	if most > 0 && len(s.rows) > most {
		s.rows = s.rows[:most]
	}
	return nil
}

func (s *Recollections) newestFirst(list []hermes.Recollection) {
	slices.SortFunc(list, func(a, b hermes.Recollection) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.ID, a.ID)) })
}

// Recollect finds texts by words and by vector.
func (s *Recollections) Recollect(_ context.Context, q hermes.RecollectionQuery) ([]hermes.Recollection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.FieldsFunc(strings.ToLower(q.Text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(w string) bool { return len(w) < 3 })
	var found []hermes.Recollection
	for _, r := range s.rows {
		if q.Exclude != "" && r.Session == q.Exclude {
			continue
		}
		r.Score = fit(r, words, q.Vector)
		if len(words) == 0 && len(q.Vector) == 0 || r.Score > 0 && r.Score >= q.Least {
			found = append(found, r)
		}
	}
	s.newestFirst(found)
	slices.SortStableFunc(found, func(a, b hermes.Recollection) int { return cmp.Compare(b.Score, a.Score) })
	limit := q.Limit
	if limit <= 0 {
		limit = 10
	}
	return found[:min(len(found), limit)], nil
}

// fit returns how well a text matches: by the share of the words it has, by the
// angle between the vectors, or half of each.
func fit(r hermes.Recollection, words []string, vector []int8) float64 {
	held := 0
	for _, w := range words {
		if strings.Contains(strings.ToLower(r.Text), w) {
			held++
		}
	}
	angle := cosine(vector, r.Vector)
	switch {
	case len(words) == 0:
		return angle
	case len(vector) == 0:
		return float64(held) / float64(len(words))
	}
	return (float64(held)/float64(len(words)) + angle) / 2
}

func cosine(a, b []int8) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	if dot <= 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// ForgetRecollection deletes a text.
func (s *Recollections) ForgetRecollection(_ context.Context, id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.rows, func(r hermes.Recollection) bool { return r.ID == id })
	if i < 0 {
		return fmt.Errorf("recollection %d: %w", id, hermes.ErrNotFound)
	}
	s.rows = slices.Delete(s.rows, i, i+1)
	return nil
}
