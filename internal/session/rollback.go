package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hermes"
	"hermes/internal/session/turn"
)

// Rollback calls files, which restores files, and then removes the message with the id from, and
// everything after it, from the transcript. 0 removes none. The undone messages with the ids of
// back are part of the transcript again then; if one cannot be, no message is removed. No turn begins meanwhile: messages
// wait, and Stop does not stop it. It is refused, and files is not called, while a turn runs or if
// the transcript has no such message. If files fails, no message is removed. An error of
// [ErrNotUndone] means that files was called without an error and the messages are still there.
// If files panics, the panic goes on once turns may begin again.
func (s *Session) Rollback(ctx context.Context, from int64, back []int64, files func(context.Context) error) error {
	var t *turn.Turn
	err := s.call(ctx, func() error {
		switch {
		case s.ending():
			return hermes.ErrClosed
		case s.turn != nil:
			return errors.New("a turn is running; stop it first with /stop")
		}
		if err := s.has(from); err != nil {
			return err
		}
		s.jobs.Busy()
		t = turn.New(s.ctx, s.record.LastTurn(), s.cfg.Now()) // what would begin a turn waits for it
		s.turn = t
		return nil
	})
	if err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	err = errors.New("the files were not restored") // so it is if files panics
	var over error
	restored := false
	func() {
		defer func() {
			over = s.call(ctx, func() error {
				switch {
				case err == nil && len(back) > 0:
					err = s.replace(from, back)
				case err == nil && from != 0:
					err = s.forget(from)
				}
				t.Stop(hermes.ErrInterrupted) // frees its context
				s.turn = nil
				s.jobs.Rest(nil)
				s.handleDeferred()
				return nil
			})
		}()
		err = files(ctx)
		restored = err == nil
	}()
	if err = errors.Join(err, over); err != nil && restored {
		return fmt.Errorf("%w: %w", ErrNotUndone, err)
	}
	return err
}

// ErrNotUndone means that a rollback restored the files, and that the messages could not be changed.
var ErrNotUndone = errors.New("the files were restored, but the messages are as they were; roll back again")

// has checks that the transcript has a message.
func (s *Session) has(id int64) error {
	if id == 0 {
		return nil
	}
	if err := s.record.Load(s.ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.record.Messages(), func(m hermes.Message) bool { return m.ID == id }) {
		return fmt.Errorf("message %d is not in the conversation any more; list the checkpoints again", id)
	}
	return nil
}

// Undone returns undone messages of the session by their ids, in order. It fails with
// [hermes.ErrNotFound] if one is not stored any more, or is not undone but a part of the
// transcript, or of what a compression replaced.
func (s *Session) Undone(ctx context.Context, ids []int64) ([]hermes.Message, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	part := hermes.Range{After: slices.Min(ids) - 1, Before: slices.Max(ids) + 1}
	wanted := map[int64]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	for _, not := range []hermes.Range{{Raw: true}, {}} {
		not.After, not.Before = part.After, part.Before
		list, err := s.cfg.Store.Messages(ctx, s.id, not)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			delete(wanted, m.ID)
		}
	}
	part.Hidden = true
	list, err := s.cfg.Store.Messages(ctx, s.id, part)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(m hermes.Message) bool { return !wanted[m.ID] })
	if len(list) != len(ids) {
		return nil, fmt.Errorf("%d of %d undone messages: %w", len(list), len(ids), hermes.ErrNotFound)
	}
	return list, nil
}

// replace removes a message and everything after it, 0 none, and brings undone ones back.
func (s *Session) replace(from int64, back []int64) error {
	children := s.undone()
	if err := s.record.Replace(s.ctx, from, back); err != nil {
		return s.writeFailed(err)
	}
	s.dropChildren(children)
	s.rewritten(hermes.Rewound{ID: from, Back: back})
	s.cut = false
	return nil
}

// forget removes a message and everything after it, after an undo or a rollback.
func (s *Session) forget(from int64) error {
	if err := s.rewind(from); err != nil {
		return err
	}
	s.cut = false
	return nil
}
