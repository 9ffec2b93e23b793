package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/protocol"
)

// maxHeld is how many sessions the server keeps open at once.
const maxHeld = 8

// held is a session that the server opened. It is closed when it has been idle for some time.
type held struct {
	ready chan struct{} // closed when it is open, or err is set
	err   error
	use   sync.RWMutex // held to send a message, and alone to leave
}

// using keeps the server from leaving a session until done is called.
func (s *Server) using(id string) (done func()) {
	for {
		h := s.heldOf(id)
		if h == nil {
			return func() {}
		}
		h.use.RLock()
		if s.heldOf(id) == h {
			return h.use.RUnlock
		}
		h.use.RUnlock() // it was left meanwhile
	}
}

func (s *Server) heldOf(id string) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// forget says that the server does not hold a session any more.
func (s *Server) forget(h *held, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[id] == h {
		delete(s.open, id)
	}
}

// mine reports whether the server holds a session open.
func (s *Server) mine(id string) bool {
	return s.heldOf(id) != nil
}

// hold opens a session in this process and keeps it open. Its rights are never wider than asking,
// whatever is configured; only with AllowApprovals there is someone to ask.
func (s *Server) hold(ctx context.Context, c caller, id string) error {
	s.mu.Lock()
	h := s.open[id]
	switch {
	case s.closed:
		s.mu.Unlock()
		return errors.New("the server is ending")
	case h == nil && len(s.open) >= maxHeld:
		s.mu.Unlock()
		return fmt.Errorf("%d conversations are answered already; try again when one of them is done", maxHeld)
	case h != nil:
		s.mu.Unlock()
		select {
		case <-h.ready:
			return h.err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	h = &held{ready: make(chan struct{})}
	s.open[id] = h
	s.held.Add(1)
	s.mu.Unlock()
	go s.keep(h, s.from(c), id) // ends with the session, or with Close
	select {
	case <-h.ready:
		return h.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// keep opens a session, stays attached until it is idle for long, and leaves it.
func (s *Server) keep(h *held, from hermes.From, id string) {
	defer s.held.Done()
	defer s.forget(h, id)
	from.Attends = s.cfg.AllowApprovals
	events, err := s.enter(from, id)
	h.err = err
	close(h.ready)
	if err != nil {
		return
	}
	left := s.follow(events, h, from, id)
	if !left {
		h.use.Lock()
		defer h.use.Unlock()
		s.leave(from, id)
		s.forget(h, id)
	}
}

// leaveIdle leaves a session unless a turn runs in it, and reports whether it did. A message that is
// sent meanwhile waits, and finds the session closed.
func (s *Server) leaveIdle(h *held, a *attached, from hermes.From, id string) bool {
	h.use.Lock()
	defer h.use.Unlock()
	state, err := s.glance(s.ctx, caller{}, id)
	if err == nil && state.State != protocol.StateIdle { // a message came just before
		return false
	}
	a.detach()
	s.leave(from, id)
	s.forget(h, id)
	return true
}

// leave says that this server does not need a session any more.
func (s *Server) leave(from hermes.From, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := s.cfg.Client.Do(ctx, id, from, hermes.Leave{}); err != nil && !errors.Is(err, hermes.ErrClosed) {
		s.cfg.Log.Warn("leave a session", "session", id, "error", err)
	}
}

// leaveTime limits how long the end of a session takes.
const leaveTime = 10 * time.Second

// enter opens a session and attaches to it.
func (s *Server) enter(from hermes.From, id string) (*attached, error) {
	run := hermes.RunSpec{Session: id, Rights: hermes.Rights{Mode: hermes.ModeAsk, Approver: hermes.ApproverManual, WhenUnattended: hermes.UnattendedDeny}}
	if _, err := s.cfg.Client.Open(s.ctx, from, run); err != nil {
		return nil, err
	}
	ctx, detach := context.WithCancel(s.ctx)
	state, events, err := s.cfg.Client.Attach(ctx, id, from, protocol.After{})
	if err != nil {
		detach()
		s.leave(from, id)
		return nil, err
	}
	return &attached{state, events, detach}, nil
}

// attached is an attachment to a session.
type attached struct {
	state  protocol.Snapshot
	events <-chan protocol.Envelope
	detach context.CancelFunc
}

// follow returns when the session was idle for some time and was left, is closed, or Close was
// called. It detaches.
func (s *Server) follow(a *attached, h *held, from hermes.From, id string) (left bool) {
	defer a.detach()
	var view protocol.View
	busy := a.state.State != protocol.StateIdle
	idle := time.NewTimer(s.cfg.Idle)
	defer idle.Stop()
	for {
		select {
		case e, ok := <-a.events:
			if !ok {
				return false
			}
			view.Apply(e)
			if asked, ok := e.Event.(hermes.Asked); ok && asked.Question != nil {
				s.noAnswer(from, e.Session, id, asked.ID)
			}
			if busy = !view.Idle(); !busy {
				idle.Reset(s.cfg.Idle)
			}
		case <-idle.C:
			if busy {
				continue
			}
			if s.leaveIdle(h, a, from, id) {
				return true
			}
			idle.Reset(s.cfg.Idle)
		case <-s.ctx.Done():
			return false
		}
	}
}

// noAnswer answers a question, which is no approval, unless another frontend is attached: clients
// cannot, so that the turn would wait until its time is over.
func (s *Server) noAnswer(from hermes.From, session, root, question string) {
	ctx, detach := context.WithCancel(s.ctx)
	defer detach()
	from.Attends = false
	state, _, err := s.cfg.Client.Attach(ctx, root, from, protocol.After{})
	if err != nil || slices.ContainsFunc(state.Frontends, func(f hermes.From) bool { return f.Attends && f.Client != from.Client }) {
		return
	}
	if err := s.cfg.Client.Do(ctx, session, from, hermes.Reply{ID: question, Answer: hermes.Answer{TimedOut: true}}); err != nil {
		s.cfg.Log.Info("a question was not answered", "session", session, "error", err)
	}
}
