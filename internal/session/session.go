package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
	"hermes/internal/session/jobs"
)

// leaseTime is how long a lease is valid. It is renewed after a third of that.
const leaseTime = 60 * time.Second

// ErrClosed means that the session has ended; open it again.
var ErrClosed = errors.New("the session is closed")

// Session is a live conversation. Its methods may be called concurrently.
type Session struct {
	cfg     *Config
	id      string
	subs    subscribers
	inbox   chan envelope
	closing chan struct{}
	close   sync.Once
	done    chan struct{} // closed when the actor has ended
	err     error         // of closing; read after done
	manager *Manager
	// environment is set before the first turn and read by its tools.
	environment hermes.Environment
	// sharedLease is the lease for the calls of a turn.
	sharedLease atomic.Pointer[hermes.Lease]

	// The following fields belong to the actor's goroutine.
	ctx          context.Context // ends when the session does
	cancel       context.CancelFunc
	row          hermes.Session
	stored       bool
	lease        hermes.Lease
	transcript   []hermes.Message
	runtime      *Runtime
	specs        []hermes.Spec
	model        hermes.Model
	once         hermes.Model // for the next turn only
	effort       hermes.Effort
	turn         *turn
	jobs         *jobs.Runner
	queue        []queued     // stored, too
	notify       func(string) // Open.Waiting; may be nil
	questions    map[string]*question
	pendingCalls map[string]*pendingCall
	asked        int
	last         hermes.Usage
	counted      int // messages that last covers
	runSpec      hermes.RunSpec
	attended     bool // a frontend is attached whose user can answer
	cut          bool // the last turn was cut off
	answered     bool // a turn was answered, and none failed or met a cap since
}

// envelope carries an op, or a func that reads the state, to the actor.
type envelope struct {
	op    Op
	read  func(*Session)
	reply chan error
}

// Submit sends the session an op. It returns when the session has accepted or
// refused it; the error of a refusal is worded for the user. After the end of
// the session it returns ErrClosed.
func (s *Session) Submit(ctx context.Context, op Op) error {
	return s.send(ctx, envelope{op: op, reply: make(chan error, 1)})
}

// State returns a snapshot of the session.
func (s *Session) State(ctx context.Context) (State, error) {
	var st State
	err := s.send(ctx, envelope{read: func(s *Session) { st = s.state() }, reply: make(chan error, 1)})
	return st, err
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Subscribe returns the events from now on. A slow reader loses only deltas.
// The channel is closed when the session ends or cancel is called.
func (s *Session) Subscribe(buffer int) (events <-chan hermes.Event, cancel func()) {
	return s.subs.add(buffer)
}

// Done returns a channel that is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close interrupts the running turn, waits for it, and frees all resources of
// the session. It may be called more than once.
func (s *Session) Close() error {
	s.close.Do(func() { close(s.closing) })
	<-s.done
	return s.err
}

func (s *Session) send(ctx context.Context, e envelope) error {
	select {
	case s.inbox <- e:
	case <-s.done:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-e.reply:
		return err
	case <-s.done:
	}
	select { // it may have been answered just before the end
	case err := <-e.reply:
		return err
	default:
		return ErrClosed
	}
}

// run is the actor: it handles one op or event after another until the session
// is closed.
func (s *Session) run() {
	defer close(s.done)
	renew := time.NewTicker(leaseTime / 3)
	defer renew.Stop()
	idle := newIdleTimer(s.cfg.IdleAfter)
	defer idle.stop()
	for {
		select {
		case e := <-s.inbox:
			s.handle(e)
			idle.touch()
		case e := <-s.turnEvents():
			s.turnEvent(e)
			idle.touch()
		case <-renew.C:
			s.renew()
		case <-idle.C():
			if s.turn == nil && s.subs.empty() {
				s.shutdown()
				return
			}
			idle.touch()
		case <-s.closing:
			s.shutdown()
			return
		}
	}
}

func (s *Session) handle(e envelope) {
	if e.read != nil {
		e.read(s)
		e.reply <- nil
		return
	}
	e.reply <- s.do(e.op)
}

// do carries out an op.
func (s *Session) do(op Op) error {
	switch op := op.(type) {
	case Say:
		return s.say(op)
	case Steer:
		return s.steer(op.Text)
	case Stop:
		return s.stop(op)
	case Reply:
		return s.reply(op)
	case Continue:
		return s.continueTurn()
	case Undo:
		_, err := s.undo()
		return err
	case Retry:
		return s.retry()
	case Compress:
		return s.compress(op)
	case Review:
		return s.review(op)
	case SetModel:
		return s.setModel(op)
	case SetEffort:
		s.effort = op.Effort
		return nil
	case SetTitle:
		return s.setTitle(op.Title)
	case askOp:
		return s.ask(op)
	case dropOp:
		s.drop(op.id)
		return nil
	}
	return fmt.Errorf("unknown op %T", op)
}

func (s *Session) publish(e hermes.Event) { s.subs.publish(e) }

// shutdown ends the turn and the jobs, then frees the session's resources.
func (s *Session) shutdown() {
	s.jobs.Free()
	if s.turn != nil {
		s.turn.cancel(hermes.ErrInterrupted)
		for s.turn != nil {
			select {
			case e := <-s.turn.events:
				s.turnEvent(e)
			case e := <-s.inbox:
				s.refuse(e)
			}
		}
	}
	s.jobs.Close(&s.manager.closing, s.cfg.Log)
	s.err = s.free()
	s.publish(hermes.Closed{})
	s.subs.close()
	s.cancel()
}

// refuse answers ops that arrive while the session ends, so that a tool that
// drops its question does not hang.
func (s *Session) refuse(e envelope) {
	if e.read != nil {
		e.read(s)
		e.reply <- nil
		return
	}
	e.reply <- ErrClosed
}

func (s *Session) free() error {
	var errs []error
	if s.runtime != nil {
		s.runtime.Hooks.SessionEnd(s.ctx, s.ref(s.lastTurn()))
	}
	if s.runtime != nil && s.runtime.Close != nil {
		errs = append(errs, s.runtime.Close())
	}
	if s.lease.Fence > 0 { // mark it as ended, so that retention counts its age; a resume opens it again
		ctx := context.WithoutCancel(s.ctx)
		errs = append(errs, s.cfg.Store.UpdateSession(ctx, s.id, hermes.SessionChange{End: "closed"}), s.cfg.Store.Release(ctx, s.lease))
	}
	return errors.Join(errs...)
}
