package session

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hermes"
	"hermes/internal/session/turn"
)

// questions are the questions of the running turn.
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
	asked  hermes.Asked
	call   string // the call that asks, if the journal keeps the question
	answer chan turn.Reply
}

func newQuestion(asked hermes.Asked) *question {
	return &question{asked: asked, answer: make(chan turn.Reply, 1)}
}

// askOp opens a question; dropOp closes one without an answer.
type (
	askOp struct {
		q  *question
		id chan string
	}
	dropOp struct{ id string }
)

func (askOp) op()  {}
func (dropOp) op() {}

// askUser asks the user and waits for the answer. Tools call it from their
// goroutines. A wait of 0 means no timeout.
func (s *Session) askUser(ctx context.Context, q *question, wait time.Duration) (turn.Reply, error) {
	op := askOp{q: q, id: make(chan string, 1)}
	if err := s.Submit(ctx, op); err != nil {
		return turn.Reply{}, err
	}
	id := <-op.id
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
	_ = s.Submit(context.WithoutCancel(ctx), dropOp{id}) // a closed session has no questions
	select {
	case r := <-q.answer: // it came just before
		return r, nil
	default:
		return turn.Reply{}, late
	}
}

// ask opens a question, unless an earlier turn has its answer.
func (s *Session) ask(op askOp) error {
	q := op.q
	if a := s.earlierAnswer(q); a != nil {
		q.answer <- turn.Reply{Answer: *a}
		op.id <- ""
		return nil
	}
	if !s.attended {
		return turn.ErrUnattended
	}
	s.savePending(q)
	s.questions.asked++
	id := strconv.Itoa(s.questions.asked)
	q.asked.ID = id
	s.questions.open[id] = q
	op.id <- id
	s.publish(q.asked)
	return nil
}

// reply answers an open question.
func (s *Session) reply(r Reply) error {
	q, ok := s.questions.open[r.ID]
	if !ok {
		return errors.New("this question is no longer open")
	}
	if err := s.saveAnswer(q, r); err != nil {
		return err
	}
	q.answer <- turn.Reply{Answer: r.Answer, Approval: r.Approval}
	s.drop(r.ID)
	return nil
}

// drop closes a question, answered or not.
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
