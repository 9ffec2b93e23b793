package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"hermes"
)

// ErrNoReview means that nobody looks back at the work of this session.
var ErrNoReview = errors.New("nobody looks back at the work of this session")

// reviewJob is a review that runs beside the session. Its goroutine speaks to
// the actor through the inbox, and ends with the session.
type reviewJob struct {
	cancel   context.CancelFunc
	done     chan struct{}
	finished bool // it came to its end by itself; read after done
}

// reviewedOp brings what a review has to tell.
type reviewedOp struct{ notice hermes.Notice }

func (reviewedOp) op() {}

// reviewIfDue has a turn that ended well looked at, now or when the person pauses.
func (s *Session) reviewIfDue(done hermes.TurnDone) {
	if !s.attended || done.Outcome != hermes.OutcomeDone || done.Steps == 0 || s.runtime.Review == nil || s.reviewJob != nil {
		return
	}
	if s.due.IsZero() && s.runtime.Due != nil && !s.runtime.Due(s.ctx, s.ref(s.lastTurn()), slices.Clip(s.transcript)) {
		return
	}
	now, wait := s.cfg.Now(), s.runtime.Defer
	if s.due.IsZero() {
		s.due = now
	}
	if wait.Quiet <= 0 || wait.MaxAge > 0 && now.Sub(s.due) >= wait.MaxAge {
		s.beginReview(Review{})
		return
	}
	s.quiet.start(wait.Quiet)
}

// paused begins the review that waits, when the person has paused.
func (s *Session) paused() {
	if s.turn == nil && s.reviewJob == nil && !s.due.IsZero() {
		s.beginReview(Review{})
	}
}

// review looks back because the person asks for it.
func (s *Session) review(op Review) error {
	switch {
	case len(s.transcript) == 0:
		return errors.New("nothing was said yet")
	case s.runtime == nil || s.runtime.Review == nil:
		return ErrNoReview
	case s.turn != nil:
		return errors.New("a turn is running; ask again when it is done")
	case s.reviewJob != nil:
		return errors.New("a review is running already; its outcome is told when it is done")
	}
	op.Asked = true
	s.beginReview(op)
	return nil
}

func (s *Session) beginReview(op Review) {
	ctx, cancel := context.WithCancel(s.ctx)
	l := &reviewJob{cancel: cancel, done: make(chan struct{})}
	s.reviewJob, s.due = l, time.Time{}
	s.quiet.stop()
	look, ref, model, transcript := s.runtime.Review, s.ref(s.lastTurn()), s.row.Model, slices.Clip(s.transcript)
	go func() { // ends when the actor was told, or with stopReview
		defer close(l.done)
		defer cancel()
		said, err := look(ctx, ref, model, transcript, op)
		l.finished = ctx.Err() == nil
		n := hermes.Notice{Level: hermes.NoticeInfo, Text: said}
		if err != nil {
			s.cfg.Log.Info("look back", "session", s.id, "err", err)
			if n.Text = ""; op.Asked {
				n = hermes.Notice{Level: hermes.NoticeWarning, Text: err.Error()}
			}
		}
		_ = s.Submit(ctx, reviewedOp{n}) // a session that ends is told nothing
	}()
}

func (s *Session) reviewed(op reviewedOp) error {
	s.reviewJob = nil
	if op.notice.Text != "" {
		s.publish(op.notice)
	}
	return nil
}

// stopReview gives the review up and waits for its end; cut tells whether one
// was under way or due. The actor calls it when it takes nothing more from the
// inbox.
func (s *Session) stopReview() (cut bool) {
	s.quiet.stop()
	if s.reviewJob == nil {
		return !s.due.IsZero()
	}
	s.reviewJob.cancel()
	<-s.reviewJob.done
	return !s.reviewJob.finished
}
