package provider

import (
	"sync"
	"time"

	"hermes"
)

// failover is what is known of models from one call to the next, while the
// program runs: who answers in which turn, and who rests until when.
type failover struct {
	mu      sync.Mutex
	turns   map[turnKey]turnState
	resting map[string]pause
	models  map[string]hermes.Model
}

// mostTurns bounds how many sessions are remembered. Who is forgotten begins
// with the first model again.
const mostTurns = 1024

// turnKey names a conversation with the model that was asked for.
type turnKey struct {
	session, ref string
	turn         int64
}

type turnState struct {
	turn int64
	at   int // in the chain
}

// pause is a time of rest. Its length tells a clock that jumped.
type pause struct {
	until  time.Time
	length time.Duration
}

func newFailover() *failover {
	return &failover{turns: map[turnKey]turnState{}, resting: map[string]pause{}, models: map[string]hermes.Model{}}
}

// turnOf tells the turn that a request belongs to.
func turnOf(ref string, r *hermes.Request) turnKey {
	k := turnKey{session: r.Session, ref: ref, turn: r.Scope.Turn}
	if n := len(r.Messages); n > 0 && k.turn == 0 {
		k.turn = r.Messages[n-1].Turn
	}
	return k
}

// answers returns who answers in this turn, by place in the chain: the first
// one, unless another took over.
func (s *failover) answers(k turnKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.turns[k.session0()]
	if !ok || state.turn != k.turn || k.turn == 0 {
		return 0
	}
	return state.at
}

// answer notes who answers.
func (s *failover) answer(k turnKey, at int) {
	if k.session == "" || k.turn == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == 0 {
		delete(s.turns, k.session0())
		return
	}
	if len(s.turns) >= mostTurns {
		clear(s.turns)
	}
	s.turns[k.session0()] = turnState{k.turn, at}
}

// session0 is the key without its turn.
func (k turnKey) session0() turnKey { return turnKey{session: k.session, ref: k.ref} }

// rest notes that a model said how long it rests.
func (s *failover) rest(ref string, length time.Duration, now time.Time) {
	if length <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting[ref] = pause{now.Add(length), length}
}

// rests tells how long a model rests; 0 is awake. A rest that seems longer than
// it was is of a clock that was put back, and does not count.
func (s *failover) rests(ref string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.resting[ref]
	if !ok {
		return 0
	}
	left := p.until.Sub(now)
	if left <= 0 || left > p.length {
		delete(s.resting, ref)
		return 0
	}
	return left
}

// model keeps the models of the chain, with what they know of their keys.
func (s *failover) model(id string, build func() (hermes.Model, error)) (hermes.Model, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.models[id]; ok {
		return m, nil
	}
	m, err := build()
	if err == nil {
		s.models[id] = m
	}
	return m, err
}
