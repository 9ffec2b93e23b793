package session

import "hermes"

// setModel changes the model from the next turn on, or for the next turn only.
func (s *Session) setModel(op SetModel) error {
	m, err := s.cfg.Models.Model(s.ctx, hermes.ModelChoice{Ref: op.Ref})
	if err != nil {
		return err
	}
	if op.Once {
		s.once = m
		return nil
	}
	s.model, s.once = m, nil
	s.row.Model = m.ID()
	if !s.stored {
		return nil
	}
	return s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{Model: &s.row.Model})
}

// nextModel returns the model of the turn that begins now.
func (s *Session) nextModel() hermes.Model {
	m := s.model
	if s.once != nil {
		m, s.once = s.once, nil
	}
	return m
}

// effortOf returns the effort for a model: what the user set in this session,
// else what is configured.
func (s *Session) effortOf(model string) hermes.Effort {
	if s.effort != "" || s.cfg.Effort == nil {
		return s.effort
	}
	return s.cfg.Effort(model)
}
