package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

// questions are the questions of the running turn. The store has each of them too, before it is
// shown: hermes.Questions says what waits, and of what is closed whether it was answered and by
// whom. The journal has what a call needs to go on after its process.
type questions struct {
	open    map[string]*question    // by id
	pending map[string]*pendingCall // by call
	asked   int
}

// load takes what the journal has of the calls that are open when a turn begins.
func (qs *questions) load(steps []hermes.Step) {
	qs.pending = map[string]*pendingCall{}
	for _, st := range steps {
		qs.pending[st.Call.ID] = &pendingCall{PendingCall: st.Pending}
	}
}

// question is a question or approval that waits for the user.
type question struct {
	asked     hermes.Asked
	call      string // the call that asks, if the journal keeps the question
	escalated time.Time
	answer    chan turn.Reply
	touched   chan struct{}      // holds one
	opened    func(hermes.Asked) // called when it waits for the user; may be nil
}

func newQuestion(asked hermes.Asked, call string) *question {
	return &question{asked: asked, call: call, answer: make(chan turn.Reply, 1), touched: make(chan struct{}, 1)}
}

// askUser asks the user and waits for the answer. Tools call it from their
// goroutines. A wait of 0 means no timeout.
func (s *Session) askUser(ctx context.Context, q *question, wait time.Duration) (turn.Reply, error) {
	if err := s.call(ctx, func() error { return s.ask(q) }); err != nil {
		return turn.Reply{}, err
	}
	r, late := s.await(ctx, q, wait)
	if late == nil {
		return r, nil
	}
	s.post(context.WithoutCancel(ctx), func() { s.drop(q) }) // a closed session has no questions
	select {
	case r := <-q.answer: // it came just before
		return r, nil
	default:
		return turn.Reply{}, late
	}
}

// await waits for the answer to a question, and escalates the question if no user has begun to
// answer it. That and each touch start its time again.
func (s *Session) await(ctx context.Context, q *question, wait time.Duration) (turn.Reply, error) {
	untouched := s.cfg.Ask.Escalate
	if wait > 0 && untouched >= wait {
		untouched = 0 // its time is over before
	}
	escalate, timeout := time.NewTimer(orNever(untouched)), time.NewTimer(orNever(wait))
	defer escalate.Stop()
	defer timeout.Stop()
	for {
		select {
		case r := <-q.answer:
			return r, nil
		case <-q.touched:
			escalate.Reset(orNever(untouched))
		case <-escalate.C:
			untouched = 0 // once is enough
			s.post(ctx, func() { s.escalate(q) })
		case <-timeout.C:
			return turn.Reply{}, turn.ErrNoAnswer
		case <-ctx.Done():
			return turn.Reply{}, context.Cause(ctx)
		}
		timeout.Reset(orNever(wait))
	}
}

// orNever returns a time, or for 0 one that is never over.
func orNever(d time.Duration) time.Duration { return cmp.Or(max(d, 0), math.MaxInt64) }

// ask stores and opens a question, unless an earlier turn has its answer.
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
	if err := s.record.SaveQuestion(s.ctx, q.stored()); err != nil {
		if errors.Is(err, hermes.ErrStaleLease) {
			s.lost()
		}
		return fmt.Errorf("the question could not be stored, so it was not asked: %w", err)
	}
	s.questions.open[q.asked.ID] = q
	s.publish(q.asked)
	if q.opened != nil {
		q.opened(q.asked)
	}
	return nil
}

// stored is the question as the store has it while it is open.
func (q *question) stored() hermes.StoredQuestion {
	return hermes.StoredQuestion{Asked: q.asked, Escalated: q.escalated}
}

// reply answers an open question. An answer that cannot be stored does not count, unless it
// refuses.
func (s *Session) reply(r hermes.Reply, from hermes.From) error {
	q, ok := s.questions.open[r.ID]
	if !ok {
		return s.late(r.ID)
	}
	if err := s.saveAnswer(q, r, from); err != nil {
		s.cfg.Log.Warn("store an answer", "session", s.id, "question", r.ID, "err", err)
		if q.asked.Approval == nil || r.Approval.Allowed() {
			return fmt.Errorf("the answer could not be stored, so it does not count: %w", err)
		}
	}
	q.answer <- turn.Reply{Answer: r.Answer, Approval: r.Approval}
	delete(s.questions.open, r.ID)
	s.publish(hermes.AnswerTaken{ID: r.ID, Answered: true, By: from, Decision: r.Approval.Decision})
	return nil
}

// late is the error of acting on a question that is not open.
func (s *Session) late(id string) error {
	q, err := s.cfg.Store.FindQuestion(s.ctx, s.id, id)
	switch {
	case err == nil && q.Answered:
		return hermes.ErrAnswered{By: q.By}
	case err == nil || errors.Is(err, hermes.ErrNotFound):
		return errors.New("this question is no longer open")
	}
	return err
}

// touch starts the time of an open question again.
func (s *Session) touch(id string) error {
	q, ok := s.questions.open[id]
	if !ok {
		return s.late(id)
	}
	select {
	case q.touched <- struct{}{}:
	default:
	}
	return nil
}

// escalate offers an open question to all frontends of the user: they find it in the store.
func (s *Session) escalate(q *question) {
	if s.questions.open[q.asked.ID] != q {
		return
	}
	q.escalated = s.cfg.Now()
	if err := s.record.SaveQuestion(s.ctx, q.stored()); err != nil {
		s.cfg.Log.Warn("escalate a question", "session", s.id, "question", q.asked.ID, "err", err)
		return
	}
	s.publish(hermes.Escalated{ID: q.asked.ID})
}

// drop closes a question without an answer.
func (s *Session) drop(q *question) {
	if s.questions.open[q.asked.ID] != q {
		return
	}
	closed := q.stored()
	closed.Closed = s.cfg.Now()
	if err := s.record.SaveQuestion(s.ctx, closed); err != nil {
		s.cfg.Log.Warn("close a question", "session", s.id, "question", q.asked.ID, "err", err)
	}
	delete(s.questions.open, q.asked.ID)
	s.publish(hermes.AnswerTaken{ID: q.asked.ID})
}

// dropAll closes every question when their turn has ended.
func (s *Session) dropAll() {
	if len(s.questions.open) == 0 {
		return
	}
	if err := s.record.CloseQuestions(s.ctx); err != nil {
		s.cfg.Log.Warn("close the questions", "session", s.id, "err", err)
	}
	for id := range s.questions.open {
		delete(s.questions.open, id)
		s.publish(hermes.AnswerTaken{ID: id})
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

// saveAnswer stores the answer before the call acts on it. The journal is first, so that a
// question which the store says was answered is never asked again. If only the journal could be
// written, it is set back: after a crash a call that was not allowed would look as if it had
// begun.
func (s *Session) saveAnswer(q *question, r hermes.Reply, from hermes.From) error {
	answered := q.stored()
	answered.Closed, answered.Answered, answered.Reply, answered.By = s.cfg.Now(), true, r, from
	h := s.pendingFor(q)
	if h == nil {
		return s.record.SaveQuestion(s.ctx, answered)
	}
	before := *h
	if q.asked.Approval != nil {
		h.AwaitingApproval = false
	} else {
		h.Answers = slices.Clone(h.Answers)
		h.Answers[h.at].Answer = &r.Answer
		h.at++
	}
	err := s.record.SavePending(s.ctx, q.call, h.PendingCall)
	if err != nil {
		*h = before
		return err
	}
	if err = s.record.SaveQuestion(s.ctx, answered); err != nil {
		*h = before
		err = errors.Join(err, s.record.SavePending(s.ctx, q.call, h.PendingCall))
	}
	return err
}

// waiting reports whether a question of a turn that has ended is still open.
func (s *Session) waiting() bool { return s.turn == nil && s.record.Waiting() }

// parked reports whether a question to the user stays open between turns, and not only a call that can go on.
func (s *Session) parked() bool {
	return s.waiting() && (s.runtime == nil || s.record.Asks(s.runtime.Tools))
}
