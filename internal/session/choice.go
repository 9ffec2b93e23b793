package session

import (
	"context"
	"errors"

	"hermes"
)

// choice is the model of a session.
type choice struct {
	model  hermes.Model // nil until the first turn
	once   hermes.Model // for the next turn only; may be nil
	effort hermes.Effort
}

// setModel changes the model from the next turn on, or for the next turn only.
func (s *Session) setModel(op hermes.SetModel) error {
	m, err := s.cfg.Models.Model(s.ctx, hermes.ModelChoice{Ref: op.Ref})
	if err != nil {
		return err
	}
	if op.Once {
		s.model.once = m
		return nil
	}
	s.model.model, s.model.once = m, nil
	s.record.Row.Model = m.ID()
	return s.record.Update(s.ctx, hermes.SessionChange{Model: &s.record.Row.Model})
}

// nextModel returns the model of the turn that begins now.
func (s *Session) nextModel() hermes.Model {
	m := s.model.model
	if s.model.once != nil {
		m, s.model.once = s.model.once, nil
	}
	return m
}

// effortOf returns the effort for a model: what the user set in this session,
// else what is configured.
func (s *Session) effortOf(model string) hermes.Effort {
	if s.model.effort != "" || s.cfg.Effort == nil {
		return s.model.effort
	}
	return s.cfg.Effort(model)
}

// SayWith sends a message of the user that m answers instead of the session's model. It is refused while a
// turn runs.
func (s *Session) SayWith(ctx context.Context, from hermes.From, op hermes.Say, m hermes.Model) error {
	taken := make(chan error, 1)
	err := s.call(ctx, func() error {
		switch {
		case s.ending():
			return hermes.ErrClosed
		case s.turn != nil:
			return errors.New("a turn is running; stop it first with /stop, or wait until it ends")
		}
		before := s.model.once // of /model NAME --once, which this message leaves alone
		s.model.once = m
		s.say(op, from, func(err error) {
			s.model.once = before
			taken <- err
		})
		return nil
	})
	if err != nil {
		return err
	}
	select {
	case err := <-taken:
		return err
	case <-s.done:
		return hermes.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
