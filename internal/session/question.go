package session

import (
	"context"
	"errors"
	"strconv"
	"time"

	"hermes"
)

var (
	errUnattended = errors.New("nobody is there who could answer")
	errNoAnswer   = errors.New("nobody answered in time")
)

// question is what waits for the person.
type question struct {
	asked  hermes.Asked
	call   string // set where the journal keeps it: the call that asks
	answer chan Reply
}

func newQuestion(asked hermes.Asked) *question {
	return &question{asked: asked, answer: make(chan Reply, 1)}
}

// askOp opens a question; dropOp lets go of one.
type (
	askOp struct {
		q  *question
		id chan string
	}
	dropOp struct{ id string }
)

func (askOp) op()  {}
func (dropOp) op() {}

// put asks the person and waits for the answer, from the goroutine of a tool.
// A wait of 0 has no end.
func (s *Session) put(ctx context.Context, q *question, wait time.Duration) (Reply, error) {
	op := askOp{q: q, id: make(chan string, 1)}
	if err := s.Submit(ctx, op); err != nil {
		return Reply{}, err
	}
	id := <-op.id
	var timeout <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		timeout = timer.C
	}
	late := errNoAnswer
	select {
	case r := <-q.answer:
		return r, nil
	case <-timeout:
	case <-ctx.Done():
		late = context.Cause(ctx)
	}
	_ = s.Submit(context.WithoutCancel(ctx), dropOp{id}) // a closed session has no question left
	select {
	case r := <-q.answer: // it came just before
		return r, nil
	default:
		return Reply{}, late
	}
}

// ask, reply and drop are the actor's side of a question.
func (s *Session) ask(op askOp) error {
	q := op.q
	if a := s.earlierAnswer(q); a != nil {
		q.answer <- Reply{Answer: *a}
		op.id <- ""
		return nil
	}
	if !s.attended {
		return errUnattended
	}
	s.savePending(q)
	s.asked++
	id := strconv.Itoa(s.asked)
	q.asked.ID = id
	s.questions[id] = q
	op.id <- id
	s.publish(q.asked)
	return nil
}

func (s *Session) reply(r Reply) error {
	q, ok := s.questions[r.ID]
	if !ok {
		return errors.New("that question is no longer open")
	}
	if err := s.saveAnswer(q, r); err != nil {
		return err
	}
	q.answer <- r
	s.drop(r.ID)
	return nil
}

func (s *Session) drop(id string) {
	if _, ok := s.questions[id]; !ok {
		return
	}
	delete(s.questions, id)
	s.publish(hermes.AnswerTaken{ID: id})
}

// dropAll lets go of every question, when their turn has ended.
func (s *Session) dropAll() {
	for id := range s.questions {
		s.drop(id)
	}
}
