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
	answer chan Reply
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
func (s *Session) put(ctx context.Context, asked hermes.Asked) (Reply, error) {
	q := &question{asked: asked, answer: make(chan Reply, 1)}
	op := askOp{q: q, id: make(chan string, 1)}
	if err := s.Submit(ctx, op); err != nil {
		return Reply{}, err
	}
	id := <-op.id
	var timeout <-chan time.Time
	if s.cfg.AskTimeout > 0 {
		timer := time.NewTimer(s.cfg.AskTimeout)
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case r := <-q.answer:
		return r, nil
	case <-timeout:
		_ = s.Submit(context.WithoutCancel(ctx), dropOp{id}) // a closed session has no question left
		return Reply{}, errNoAnswer
	case <-ctx.Done():
		_ = s.Submit(context.WithoutCancel(ctx), dropOp{id})
		return Reply{}, context.Cause(ctx)
	}
}

// ask, reply and drop are the actor's side of a question.
func (s *Session) ask(op askOp) error {
	if !s.attended {
		return errUnattended
	}
	s.asked++
	id := strconv.Itoa(s.asked)
	op.q.asked.ID = id
	s.questions[id] = op.q
	op.id <- id
	s.publish(op.q.asked)
	return nil
}

func (s *Session) reply(r Reply) error {
	q, ok := s.questions[r.ID]
	if !ok {
		return errors.New("that question is no longer open")
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
