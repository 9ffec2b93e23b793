package session

import (
	"fmt"

	"hermes"
)

// pendingCall is what the journal keeps of a call that asks the user. It
// belongs to the actor and exists during one turn.
type pendingCall struct {
	hermes.PendingCall
	at int // how many questions the call has asked in this turn
}

// pendingFor returns the pending state of a question's call, or nil if the
// journal does not keep it.
func (s *Session) pendingFor(q *question) *pendingCall {
	if q.call == "" {
		return nil
	}
	h := s.questions.pending[q.call]
	if h == nil {
		h = &pendingCall{}
		s.questions.pending[q.call] = h
	}
	return h
}

// earlierAnswer returns the user's answer to this question in an earlier turn,
// or nil.
func (s *Session) earlierAnswer(q *question) *hermes.Answer {
	h := s.pendingFor(q)
	if h == nil || q.asked.Question == nil || h.at >= len(h.Answers) || h.Answers[h.at].Answer == nil {
		return nil
	}
	h.at++
	return h.Answers[h.at-1].Answer
}

// savePending stores that the user is being asked. If that fails, the question
// is asked anyway: it is lost only if the process dies before the answer.
func (s *Session) savePending(q *question) {
	h := s.pendingFor(q)
	switch {
	case h == nil:
		return
	case q.asked.Approval != nil:
		h.AwaitingApproval = true
	default:
		h.Answers = append(h.Answers[:h.at:h.at], hermes.AskedQuestion{Question: *q.asked.Question})
	}
	if err := s.record.SavePending(s.ctx, q.call, h.PendingCall); err != nil {
		s.cfg.Log.Warn("store a question", "session", s.id, "call", q.call, "err", err)
	}
}

// saveAnswer stores the answer before the call acts on it. An approval that
// cannot be stored does not count: after a crash the call would look as if it
// had never begun.
func (s *Session) saveAnswer(q *question, r Reply) error {
	h := s.pendingFor(q)
	switch {
	case h == nil:
		return nil
	case q.asked.Approval != nil:
		h.AwaitingApproval = false
		if err := s.record.SavePending(s.ctx, q.call, h.PendingCall); err != nil && r.Approval.Allowed() {
			return fmt.Errorf("the answer could not be stored, so it does not count: %w", err)
		}
		return nil
	}
	h.Answers[h.at].Answer = &r.Answer
	h.at++
	if err := s.record.SavePending(s.ctx, q.call, h.PendingCall); err != nil {
		s.cfg.Log.Warn("store an answer", "session", s.id, "call", q.call, "err", err)
	}
	return nil
}

// waiting reports whether a question of a turn that has ended is still open.
func (s *Session) waiting() bool { return s.turn == nil && s.record.Waiting() }
