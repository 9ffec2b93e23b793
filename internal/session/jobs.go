package session

import (
	"context"
	"errors"

	"hermes"
	"hermes/internal/session/jobs"
)

// owner is the session as its jobs see it.
type owner struct{ *Session }

// Snapshot describes the session at rest.
func (o owner) Snapshot() jobs.Snapshot {
	s := o.Session
	snapshot := jobs.Snapshot{
		Ref: s.ref(s.record.LastTurn()), Titled: s.record.Row.Title != "", Transcript: s.record.Messages(),
		Usage: s.usage(), Cut: s.cut, Answered: s.answered,
	}
	if !s.record.Whole() {
		snapshot.Read = s.record.Reader()
	}
	return snapshot
}

// TakeCompaction stores a shortened transcript.
func (o owner) TakeCompaction(r hermes.CompactResult) error {
	if err := o.record.Load(o.ctx); err != nil {
		return err
	}
	if err := o.record.Compact(o.ctx, r); err != nil {
		return o.writeFailed(err)
	}
	o.compacted()
	return nil
}

// Publish passes an event to the subscribers.
func (o owner) Publish(e hermes.Event) { o.publish(e) }

// post runs a func in the session's goroutine, unless the session ends before.
func (s *Session) post(ctx context.Context, f func()) {
	_ = s.call(ctx, func() error { f(); return nil }) // a session that ends needs no result
}

// review begins a review because the user asked for it.
func (s *Session) review(op hermes.StartReview) error {
	switch {
	case s.record.Empty():
		return errors.New("the session has no messages yet")
	case s.turn != nil:
		return errors.New("a turn is running; try again when it ends")
	}
	if err := s.cfg.halted(); err != nil {
		return err
	}
	return s.jobs.Review(op.Focus)
}
