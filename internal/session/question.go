package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

// questions are the questions of the running turn.
type questions struct {
	open map[string]*question // by id
	// answered are the questions of this turn that were answered, and by whom.
	answered map[string]hermes.From
	pending  map[string]*pendingCall // by call
	asked    int
}

// load takes what the journal has of the calls that are open when a turn begins.
func (qs *questions) load(steps []hermes.Step) {
	qs.pending, qs.answered = map[string]*pendingCall{}, map[string]hermes.From{}
	for _, st := range steps {
		qs.pending[st.Call.ID] = &pendingCall{PendingCall: st.Pending}
	}
}

// question is a question or approval that waits for the user.
type question struct {
	asked  hermes.Asked
	call   string // the call that asks, if the journal keeps the question
	answer chan turn.Reply
}

// askUser asks the user and waits for the answer. Tools call it from their
// goroutines. A wait of 0 means no timeout.
func (s *Session) askUser(ctx context.Context, q *question, wait time.Duration) (turn.Reply, error) {
	if err := s.call(ctx, func() error { return s.ask(q) }); err != nil {
		return turn.Reply{}, err
	}
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	late := turn.ErrNoAnswer
	select {
	case r := <-q.answer:
		return r, nil
	case <-timeout:
	case <-ctx.Done():
		late = context.Cause(ctx)
	}
	s.post(context.WithoutCancel(ctx), func() { s.drop(q.asked.ID) }) // a closed session has no questions
	select {
	case r := <-q.answer: // it came just before
		return r, nil
	default:
		return turn.Reply{}, late
	}
}

// ask opens a question, unless an earlier turn has its answer.
func (s *Session) ask(q *question) error {
	if s.ending() {
		return hermes.ErrClosed
	}
	if a := s.earlierAnswer(q); a != nil {
		q.answer <- turn.Reply{Answer: *a}
		return nil
	}
	if !s.attended() {
		return turn.ErrUnattended
	}
	s.savePending(q)
	s.questions.asked++
	q.asked.ID = fmt.Sprintf("%d.%d", s.record.Lease().Fence, s.questions.asked)
	q.asked.At = s.cfg.Now()
	s.questions.open[q.asked.ID] = q
	s.publish(q.asked)
	return nil
}

// reply answers an open question.
func (s *Session) reply(r hermes.Reply, from hermes.From) error {
	q, ok := s.questions.open[r.ID]
	if by, answered := s.questions.answered[r.ID]; !ok && answered {
		return hermes.ErrAnswered{By: by}
	}
	if !ok {
		return errors.New("this question is no longer open")
	}
	if err := s.saveAnswer(q, r); err != nil {
		return err
	}
	q.answer <- turn.Reply{Answer: r.Answer, Approval: r.Approval}
	delete(s.questions.open, r.ID)
	s.questions.answered[r.ID] = from
	s.publish(hermes.AnswerTaken{ID: r.ID, Answered: true, By: from, Decision: r.Approval.Decision})
	return nil
}

// drop closes a question without an answer.
func (s *Session) drop(id string) {
	if _, ok := s.questions.open[id]; !ok {
		return
	}
	delete(s.questions.open, id)
	s.publish(hermes.AnswerTaken{ID: id})
}

// dropAll closes every question when their turn has ended.
func (s *Session) dropAll() {
	for id := range s.questions.open {
		s.drop(id)
	}
}

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
func (s *Session) saveAnswer(q *question, r hermes.Reply) error {
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
