package session

import (
	"errors"
	"slices"

	"hermes"
)

// endTurn records and publishes the outcome of a turn, starts its jobs, and
// begins the next turn in the queue.
func (s *Session) endTurn(failed error) {
	t := s.turn
	s.turn = nil
	s.dropAll()
	done := t.final
	if done == nil {
		done = s.broken(t, failed)
	}
	s.cut = done.Outcome == hermes.OutcomeFailed && s.unanswered() || s.waiting()
	s.answered = done.Outcome == hermes.OutcomeDone || s.answered && done.Outcome == hermes.OutcomeInterrupted
	s.addUsage(done.Usage)
	if rest := t.note.rest(); len(rest.ids) > 0 { // it came after the last batch
		s.queue = slices.Insert(s.queue, 0, rest)
	}
	s.publish(*done)
	if t.calls == nil { // a compression is no exchange
		done = nil
	}
	s.jobs.Rest(done)
	s.next()
}

// broken returns the outcome of a turn whose loop was stopped before its end.
func (s *Session) broken(t *turn, why error) *hermes.TurnDone {
	done := &hermes.TurnDone{Turn: t.number, Outcome: hermes.OutcomeInterrupted, Usage: t.used, Duration: s.cfg.Now().Sub(t.began)}
	if !errors.Is(why, errParked) {
		done.Outcome, done.Err = hermes.OutcomeFailed, s.writeFailed(why)
	} else if len(s.queue) == 0 {
		s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: stillOpen})
	}
	return done
}

// stillOpen is the notice for a question that was not answered.
const stillOpen = "The question stays open. Use /continue to see it again; any other message drops it."
