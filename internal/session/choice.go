package session

import "hermes"

// setModel takes another model from the next turn on, or for that turn alone.
func (s *Session) setModel(op SetModel) error {
	m, err := s.cfg.Models.Model(s.ctx, op.Ref)
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

// nextModel is the model of the turn that begins now.
func (s *Session) nextModel() hermes.Model {
	m := s.model
	if s.once != nil {
		m, s.once = s.once, nil
	}
	return m
}

// effortOf is how hard a model is asked to think: what the person said in this
// session, else what is configured.
func (s *Session) effortOf(model string) hermes.Effort {
	if s.effort != "" || s.cfg.Effort == nil {
		return s.effort
	}
	return s.cfg.Effort(model)
}
