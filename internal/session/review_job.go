package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"hermes"
)

// ErrNoReview means that this session has no background review.
var ErrNoReview = errors.New("this session has no background review")

// reviewJob is a background review. Its goroutine sends its result to the
// actor's inbox and ends with the session.
type reviewJob struct {
	cancel   context.CancelFunc
	done     chan struct{}
	finished bool // it was not canceled; read after done
}

// reviewedOp is the result of a review.
type reviewedOp struct{ notice hermes.Notice }

func (reviewedOp) op() {}

// reviewIfDue starts a review after a turn that ended successfully, if one is
// due: now, or when the user pauses.
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

// paused begins the review that waits for the user's pause.
func (s *Session) paused() {
	if s.turn == nil && s.reviewJob == nil && !s.due.IsZero() {
		s.beginReview(Review{})
	}
}

// review begins a review because the user asked for it.
func (s *Session) review(op Review) error {
	switch {
	case len(s.transcript) == 0:
		return errors.New("the session has no messages yet")
	case s.runtime == nil || s.runtime.Review == nil:
		return ErrNoReview
	case s.turn != nil:
		return errors.New("a turn is running; try again when it ends")
	case s.reviewJob != nil:
		return errors.New("a review is already running; its result appears when it ends")
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
	review, ref, model, transcript := s.runtime.Review, s.ref(s.lastTurn()), s.row.Model, slices.Clip(s.transcript)
	go func() { // ends when the actor has the result, or with stopReview
		defer close(l.done)
		defer cancel()
		said, err := review(ctx, ref, model, transcript, op)
		l.finished = ctx.Err() == nil
		n := hermes.Notice{Level: hermes.NoticeInfo, Text: said}
		if err != nil {
			s.cfg.Log.Info("review", "session", s.id, "err", err)
			if n.Text = ""; op.Asked {
				n = hermes.Notice{Level: hermes.NoticeWarning, Text: err.Error()}
			}
		}
		_ = s.Submit(ctx, reviewedOp{n}) // a session that ends does not need it
	}()
}

func (s *Session) reviewed(op reviewedOp) error {
	s.reviewJob = nil
	if op.notice.Text != "" {
		s.publish(op.notice)
	}
	return nil
}

// stopReview cancels the review and waits until it ends. It returns whether
// one was running or due. The actor calls it when it no longer reads the
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
