package hermestest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hermes"
)

// SaveQuestion stores a question.
func (s *Store) SaveQuestion(ctx context.Context, l hermes.Lease, q hermes.StoredQuestion) error {
	return s.change(ctx, "SaveQuestion", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		q.Session = l.Session
		i := r.question(q.Asked.ID)
		switch {
		case i < 0:
			r.questions = append(r.questions, q.Storable())
		case r.questions[i].Answered:
			return hermes.ErrAnswered{By: r.questions[i].By}
		case !r.questions[i].Closed.IsZero():
			return fmt.Errorf("question %s is no longer open: %w", q.Asked.ID, hermes.ErrNotFound)
		default:
			r.questions[i] = q.Storable()
		}
		return nil
	})
}

// question returns the index of a question, -1 if there is none.
func (r *storedSession) question(id string) int {
	return slices.IndexFunc(r.questions, func(q hermes.StoredQuestion) bool { return q.Asked.ID == id })
}

// CloseQuestions closes all open questions of a session.
func (s *Store) CloseQuestions(ctx context.Context, l hermes.Lease) error {
	return s.change(ctx, "CloseQuestions", func() error {
		r, err := s.held(l)
		if err != nil {
			return err
		}
		for i, q := range r.questions {
			if q.Closed.IsZero() {
				q.Closed = s.Now()
				r.questions[i] = q.Storable()
			}
		}
		return nil
	})
}

// FindQuestion returns a question.
func (s *Store) FindQuestion(ctx context.Context, session, id string) (q hermes.StoredQuestion, err error) {
	err = s.view(ctx, func() error {
		r, err := s.byID(session)
		if err != nil {
			return err
		}
		i := r.question(id)
		if i < 0 {
			return fmt.Errorf("question %s: %w", id, hermes.ErrNotFound)
		}
		q = r.questions[i]
		return nil
	})
	return q, err
}

// OpenQuestions returns the questions that are not closed, and those that the filter adds.
func (s *Store) OpenQuestions(ctx context.Context, f hermes.QuestionFilter) (list []hermes.StoredQuestion, err error) {
	err = s.view(ctx, func() error {
		var asked []time.Time
		for _, r := range s.sessions {
			for _, q := range r.questions {
				asked = append(asked, q.Asked.At)
			}
		}
		slices.SortFunc(asked, time.Time.Compare)
		var oldest time.Time // of those that are added
		if n := len(asked) - hermes.NewestQuestions; n > 0 {
			oldest = asked[n]
		}
		for _, r := range s.sessions {
			for _, q := range r.questions {
				shown := q.Closed.IsZero() || !f.ClosedSince.IsZero() && !q.Closed.Before(f.ClosedSince) && !q.Asked.At.Before(oldest)
				if shown && (f.Session == "" || f.Session == q.Session) && (!f.Escalated || !q.Escalated.IsZero()) {
					list = append(list, q)
				}
			}
		}
		slices.SortStableFunc(list, func(a, b hermes.StoredQuestion) int { return a.Asked.At.Compare(b.Asked.At) })
		return nil
	})
	return list, err
}
