package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"hermes"
)

// pendingCall is what the journal keeps of a call that asks the user. It
// belongs to the actor and exists during one turn.
type pendingCall struct {
	hermes.PendingCall
	at int // how many questions the call has asked in this turn
}

// asking holds the calls of a turn that only ask the user and have no result
// yet. It may be used concurrently.
type asking struct {
	mu   sync.Mutex
	open map[string]bool
}

func (a *asking) set(call string, open bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]bool{}
	}
	a.open[call] = open
}

func (a *asking) is(call string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open[call]
}

// errParked ends a turn whose question stays open.
var errParked = errors.New("a question waits for the user")

// pendingFor returns the pending state of a question's call, or nil if the
// journal does not keep it.
func (s *Session) pendingFor(q *question) *pendingCall {
	if q.call == "" {
		return nil
	}
	h := s.pendingCalls[q.call]
	if h == nil {
		h = &pendingCall{}
		s.pendingCalls[q.call] = h
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
	if err := s.storePending(q.call, h.PendingCall); err != nil {
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
		if err := s.storePending(q.call, h.PendingCall); err != nil && r.Approval.Allowed() {
			return fmt.Errorf("the answer could not be stored, so it does not count: %w", err)
		}
		return nil
	}
	h.Answers[h.at].Answer = &r.Answer
	h.at++
	if err := s.storePending(q.call, h.PendingCall); err != nil {
		s.cfg.Log.Warn("store an answer", "session", s.id, "call", q.call, "err", err)
	}
	return nil
}

func (s *Session) storePending(call string, h hermes.PendingCall) error {
	return s.cfg.Store.SavePending(context.WithoutCancel(s.ctx), s.lease, call, h)
}

// loadPending reads the pending state of the calls that are open when a turn
// begins. It returns which of them were begun.
func (s *Session) loadPending() (map[string]bool, error) {
	s.pendingCalls = map[string]*pendingCall{}
	open := hermes.OpenCalls(s.transcript)
	if len(open) == 0 {
		return nil, nil
	}
	steps, err := s.cfg.Store.OpenSteps(s.ctx, s.id)
	if err != nil {
		return nil, err
	}
	begun := map[string]bool{}
	for _, c := range open {
		if st := stepOf(steps, c); st != nil {
			begun[c.ID] = true
			s.pendingCalls[c.ID] = &pendingCall{PendingCall: st.Pending}
		}
	}
	return begun, nil
}

// waiting reports whether a question of a turn that has ended is still open.
func (s *Session) waiting() bool { return s.turn == nil && len(hermes.OpenCalls(s.transcript)) > 0 }

// asksOnly reports whether a call only asks the user.
func (s *Session) asksOnly(c hermes.ToolCall) bool {
	spec, ok := s.runtime.Tools.Spec(c.Name)
	return ok && spec.Effect == hermes.EffectAsk
}

// notAnswered returns the result of a call whose questions the user did not
// answer, with the answers given before.
func notAnswered(h hermes.PendingCall) hermes.Result {
	type answer struct {
		Question string   `json:"question"`
		Answer   []string `json:"answer"`
	}
	var out struct {
		Answers []answer `json:"answers,omitempty"`
		Note    string   `json:"note"`
	}
	for _, x := range h.Answers {
		if x.Answer != nil {
			out.Answers = append(out.Answers, answer{x.Question.Text, append([]string{}, x.Answer.Texts...)})
		}
	}
	out.Note = "The user did not answer this; what they said instead comes next. Take it as the answer if it is one."
	if len(out.Answers) > 0 {
		out.Note = "The user answered only this much; what they said instead comes next."
	}
	r, err := hermes.JSONResult(out)
	if err != nil { // texts always have a JSON form
		r.Text = out.Note
	}
	return r
}
