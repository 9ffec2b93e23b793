package session

import (
	"cmp"
	"errors"
	"slices"

	"hermes"
)

// say begins a turn with the message. If a turn runs, the busy mode decides.
func (s *Session) say(op Say) error {
	m := hermes.Message{Role: hermes.RoleUser, Synthetic: op.Synthetic}
	m.Parts, m.Provenance = splitProvenance(op.Parts)
	for i := range m.Parts {
		m.Parts[i].Anchors = nil // only a context engine sets them
	}
	if m.Text() == "" && !hasImage(m) {
		return errors.New("the message is empty")
	}
	switch {
	case s.turn == nil && op.Synthetic && s.waiting(): // the program must not drop a question to the user
		return s.enqueue(m)
	case s.turn == nil && (op.Synthetic || s.waiting()):
		return s.begin(m)
	case s.turn == nil:
		m, ids := s.withWaiting(m)
		return s.begin(m, ids...)
	}
	switch cmp.Or(op.Busy, s.cfg.Busy, BusyInterrupt) {
	case BusySteer:
		if m.Provenance == "" {
			return s.steer(m.Text())
		}
	case BusyInterrupt:
		if !op.Synthetic {
			q, err := s.storeWaiting(m, true)
			if err != nil {
				return err
			}
			s.queue = slices.Insert(s.queue, 0, q)
			s.turn.cancel(hermes.ErrInterrupted)
			return nil
		}
	}
	return s.enqueue(m)
}

// steer adds a note to the next result of the running turn. Without a turn the
// text is a message.
func (s *Session) steer(text string) error {
	if s.turn == nil {
		return s.say(Say{Parts: []hermes.Part{{Text: text}}})
	}
	if text == "" {
		return nil
	}
	q, err := s.storeWaiting(hermes.UserText(text), false)
	if err == nil {
		s.turn.note.add(q)
	}
	return err
}

// stop interrupts the turn and empties the queue.
func (s *Session) stop(op Stop) error {
	err := s.dropQueue()
	s.jobs.Free()
	if op.Processes && s.runtime != nil && s.runtime.StopProcesses != nil {
		s.runtime.StopProcesses()
	}
	if s.turn != nil {
		s.turn.cancel(hermes.ErrInterrupted)
	}
	return err
}

// continueTurn runs a turn on the transcript as it is. If that ends with an
// answer, it begins one with the first message that waits.
func (s *Session) continueTurn() error {
	if s.turn != nil {
		return errors.New("a turn is running")
	}
	if !s.cut && len(s.queue) > 0 {
		s.next()
		return nil
	}
	if !s.cut {
		return errors.New("the last turn is finished; there is nothing to continue")
	}
	return s.start(s.lastTurn())
}

// undo removes the last message of the user and everything after it from the
// transcript, and returns that message.
func (s *Session) undo() (hermes.Message, error) {
	if s.turn != nil {
		return hermes.Message{}, errors.New("a turn is running; stop it first with /stop")
	}
	s.jobs.Free()
	for i := len(s.transcript) - 1; i >= 0; i-- {
		m := s.transcript[i]
		if m.Role != hermes.RoleUser || m.Synthetic {
			continue
		}
		if err := s.cfg.Store.Rewind(s.ctx, s.lease, m.ID); err != nil {
			return hermes.Message{}, s.writeFailed(err)
		}
		s.transcript = slices.Clip(s.transcript[:i])
		s.cut = false
		s.last, s.counted = lastCount(s.transcript)
		if s.runtime != nil && s.runtime.Undone != nil {
			s.runtime.Undone()
		}
		if s.runtime != nil {
			s.runtime.Hooks.Compacted(s.ctx, s.ref(s.lastTurn()))
		}
		return m, nil
	}
	return hermes.Message{}, errors.New("there is no exchange to undo")
}

// retry undoes the last exchange and sends its message again.
func (s *Session) retry() error {
	m, err := s.undo()
	if err != nil {
		return err
	}
	return s.begin(hermes.Message{Role: hermes.RoleUser, Parts: m.Parts, Provenance: m.Provenance})
}

func hasImage(m hermes.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Image != nil })
}
