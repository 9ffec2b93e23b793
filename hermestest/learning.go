package hermestest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes"
)

var _ hermes.Learnings = (*Learnings)(nil)

// Learnings is a [hermes.Learnings] in memory. The zero value is ready to use.
type Learnings struct {
	mu   sync.Mutex
	rows []hermes.Learning
	last int64
}

// row returns the learning of a failure and adds it if it is missing. The
// caller has mu.
func (s *Learnings) row(l hermes.Learning) *hermes.Learning {
	for i := range s.rows {
		if r := &s.rows[i]; r.Tool == l.Tool && r.Class == l.Class && r.Pattern == l.Pattern {
			return r
		}
	}
	s.last++
	s.rows = append(s.rows, hermes.Learning{ID: s.last, Tool: l.Tool, Class: l.Class, Pattern: l.Pattern, Session: l.Session, Created: l.Touched, Touched: l.Touched})
	return &s.rows[len(s.rows)-1]
}

func touch(l *hermes.Learning, at time.Time) {
	if at.After(l.Touched) {
		l.Touched = at
	}
}

// SaveLearning stores a fix for a failure.
func (s *Learnings) SaveLearning(_ context.Context, l hermes.Learning) (hermes.Learning, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.row(l)
	r.Fix, r.Context, r.Tags, r.Session, r.Provenance = l.Fix, l.Context, slices.Clone(l.Tags), l.Session, l.Provenance
	touch(r, l.Touched)
	return *r, nil
}

// NoteFailure counts a failure.
func (s *Learnings) NoteFailure(_ context.Context, l hermes.Learning) (hermes.Learning, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.row(l)
	r.Seen++
	touch(r, l.Touched)
	return *r, nil
}

// PutLearning stores a learning as it is.
func (s *Learnings) PutLearning(_ context.Context, l hermes.Learning) (hermes.Learning, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := slices.ContainsFunc(s.rows, func(o hermes.Learning) bool { return o.ID == l.ID })
	r := s.row(l)
	if taken || l.ID == 0 {
		l.ID = r.ID
	}
	s.last = max(s.last, l.ID)
	*r = l
	r.Tags = slices.Clone(l.Tags)
	return *r, nil
}

// MergeLearnings merges several learnings into one.
func (s *Learnings) MergeLearnings(_ context.Context, l hermes.Learning, others ...int64) (hermes.Learning, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := func(id int64) int {
		return slices.IndexFunc(s.rows, func(o hermes.Learning) bool { return o.ID == id })
	}
	for _, id := range append([]int64{l.ID}, others...) {
		if at(id) < 0 {
			return l, fmt.Errorf("learning %d: %w", id, hermes.ErrNotFound)
		}
	}
	for _, id := range others {
		if id == l.ID || at(id) < 0 {
			continue
		}
		o, r := s.rows[at(id)], &s.rows[at(l.ID)]
		r.Seen, r.Shown, r.Helped, r.Failed = r.Seen+o.Seen, r.Shown+o.Shown, r.Helped+o.Helped, r.Failed+o.Failed
		if o.Created.Before(r.Created) {
			r.Created = o.Created
		}
		touch(r, o.Touched)
		s.rows = slices.Delete(s.rows, at(id), at(id)+1)
	}
	r := &s.rows[at(l.ID)]
	r.Fix, r.Context, r.Tags, r.Session, r.Provenance = l.Fix, l.Context, slices.Clone(l.Tags), l.Session, l.Provenance
	return *r, nil
}

// NoteFix counts that a fix was shown, helped or did not help.
func (s *Learnings) NoteFix(_ context.Context, id int64, what hermes.FixOutcome, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.rows, func(l hermes.Learning) bool { return l.ID == id })
	if i < 0 {
		return fmt.Errorf("learning %d: %w", id, hermes.ErrNotFound)
	}
	switch what {
	case hermes.FixShown:
		s.rows[i].Shown++
	case hermes.FixHelped:
		s.rows[i].Helped++
	case hermes.FixFailed:
		s.rows[i].Failed++
	default:
		return fmt.Errorf("unknown outcome %q of a fix", what)
	}
	touch(&s.rows[i], at)
	return nil
}

// FindLearnings returns learnings, last touched first.
func (s *Learnings) FindLearnings(_ context.Context, q hermes.LearningQuery) ([]hermes.Learning, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []hermes.Learning
	for _, l := range s.rows {
		if fitsLearning(l, q) {
			list = append(list, l)
		}
	}
	newestFirst(list)
	limit := q.Limit
	if limit == 0 {
		limit = 20
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list, nil
}

func newestFirst(list []hermes.Learning) {
	slices.SortFunc(list, func(a, b hermes.Learning) int {
		if c := b.Touched.Compare(a.Touched); c != 0 {
			return c
		}
		return int(b.ID - a.ID)
	})
}

func fitsLearning(l hermes.Learning, q hermes.LearningQuery) bool {
	if q.Tool != "" && q.Tool != l.Tool || q.Class != "" && q.Class != l.Class || q.Pattern != "" && q.Pattern != l.Pattern ||
		q.Known && l.Fix == "" || q.Tag != "" && !slices.Contains(l.Tags, q.Tag) {
		return false
	}
	text := strings.ToLower(strings.Join(append([]string{l.Tool, l.Class, l.Pattern, l.Fix, l.Context}, l.Tags...), "\n"))
	for _, w := range strings.Fields(strings.ToLower(q.Text)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// ForgetLearnings removes the selected learnings.
func (s *Learnings) ForgetLearnings(_ context.Context, f hermes.Forgetting) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.rows)
	s.rows = slices.DeleteFunc(s.rows, func(l hermes.Learning) bool {
		return slices.Contains(f.IDs, l.ID) || !f.Unknown.IsZero() && l.Fix == "" && l.Touched.Before(f.Unknown) || !f.Known.IsZero() && l.Touched.Before(f.Known)
	})
	if f.Most > 0 && len(s.rows) > f.Most {
		newestFirst(s.rows)
		slices.SortStableFunc(s.rows, func(a, b hermes.Learning) int { return known(b) - known(a) })
		s.rows = s.rows[:f.Most]
	}
	return before - len(s.rows), nil
}

func known(l hermes.Learning) int {
	if l.Fix == "" {
		return 0
	}
	return 1
}
