package chain

import (
	"sync"
	"time"

	"hermes"
	"hermes/internal/lru"
)

// Failover remembers, while the program runs, which model answers in which turn
// and which models are paused until when.
type Failover struct {
	mu      sync.Mutex
	turns   *lru.Map[turnKey, turnState]
	resting map[string]pause
	models  map[string]hermes.Model
}

// mostTurns bounds how many sessions are remembered. A forgotten session starts
// with the first model again.
const mostTurns = 1024

// turnKey names a session and the model that was requested.
type turnKey struct {
	session, ref string
	turn         int64
}

type turnState struct {
	turn int64
	at   int // in the chain
}

// pause is a time in which a model is not called. Its length helps to detect a
// clock that jumped.
type pause struct {
	until  time.Time
	length time.Duration
}

// NewFailover returns an empty memory. It may be used concurrently.
func NewFailover() *Failover {
	return &Failover{turns: lru.New[turnKey, turnState](mostTurns), resting: map[string]pause{}, models: map[string]hermes.Model{}}
}

// turnOf returns the turn that a request belongs to.
func turnOf(ref string, r *hermes.Request) turnKey {
	k := turnKey{session: r.Session, ref: ref, turn: r.Scope.Turn}
	if n := len(r.Messages); n > 0 && k.turn == 0 {
		k.turn = r.Messages[n-1].Turn
	}
	return k
}

// answers returns the index in the chain of the model that answers this turn:
// the first one, unless another took over.
func (s *Failover) answers(k turnKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, ok := s.turns.Get(k.session0())
	if !ok || state.turn != k.turn || k.turn == 0 {
		return 0
	}
	return state.at
}

// answer records which model answers.
func (s *Failover) answer(k turnKey, at int) {
	if k.session == "" || k.turn == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == 0 {
		s.turns.Delete(k.session0())
		return
	}
	s.turns.Put(k.session0(), turnState{k.turn, at})
}

// session0 is the key without its turn.
func (k turnKey) session0() turnKey { return turnKey{session: k.session, ref: k.ref} }

// rest records how long a model asked not to be called.
func (s *Failover) rest(ref string, length time.Duration, now time.Time) {
	if length <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resting[ref] = pause{now.Add(length), length}
}

// rests returns how long a model is still paused; 0 means available. If more is
// left than the pause was long, the clock was set back, and the pause ends.
func (s *Failover) rests(ref string, now time.Time) time.Duration {
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

// Model returns the model of this id, which keeps what it learned about its keys, or
// builds it.
func (s *Failover) Model(id string, build func() (hermes.Model, error)) (hermes.Model, error) {
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
