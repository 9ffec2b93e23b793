package session

import (
	"errors"

	"hermes"
)

// endTurn closes the books of a turn and begins the next one that waits.
func (s *Session) endTurn(failed error) {
	t := s.turn
	s.turn = nil
	s.dropAll()
	done := t.final
	if done == nil {
		done = s.broken(t, failed)
	}
	s.cut = done.Outcome == hermes.OutcomeFailed && s.unanswered() || s.waiting()
	s.fresh = done.Outcome == hermes.OutcomeDone || s.fresh && done.Outcome == hermes.OutcomeInterrupted
	s.addUsage(done.Usage)
	if rest := t.note.take(); rest != "" { // came after the last batch
		s.queue = append([]hermes.Message{hermes.UserText(rest)}, s.queue...)
	}
	s.publish(*done)
	s.findTitle(*done)
	s.observe(*done)
	s.reviewIfDue(*done)
	s.next()
}

// broken is the end of a turn whose loop was left before its own end.
func (s *Session) broken(t *turn, why error) *hermes.TurnDone {
	done := &hermes.TurnDone{Turn: t.number, Outcome: hermes.OutcomeInterrupted, Usage: t.used, Duration: s.cfg.Now().Sub(t.began)}
	if !errors.Is(why, errParked) {
		done.Outcome, done.Err = hermes.OutcomeFailed, s.writeFailed(why)
	} else if len(s.queue) == 0 {
		s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: stillOpen})
	}
	return done
}

// stillOpen tells the person what becomes of a question that was left.
const stillOpen = "The question stays open: /continue asks it again; if you say something else, it is dropped."

// next begins a turn with the first message that waits.
func (s *Session) next() {
	if len(s.queue) == 0 || s.ctx.Err() != nil {
		return
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	s.publish(hermes.Queued{Waiting: len(s.queue)})
	if err := s.begin(m); err != nil {
		s.publish(hermes.TurnDone{Turn: s.lastTurn(), Outcome: hermes.OutcomeFailed, Err: err})
	}
}
