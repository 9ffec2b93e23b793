package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hermes"
)

// leaseTime is how long a session stays ours without a renewal; a renewal is
// due after a third of it.
const leaseTime = 60 * time.Second

// maxQueue is how many messages may wait for the end of a turn.
const maxQueue = 100

// ErrClosed means that the session has ended; open it anew.
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
	err     error         // why closing went wrong; read after done
	manager *Manager
	// environment is set before the first turn and read by its tools.
	environment hermes.Environment
	// held is the lease as the calls of a turn read it.
	held atomic.Pointer[hermes.Lease]

	// What follows belongs to the actor's goroutine.
	ctx          context.Context // ends when the session does
	cancel       context.CancelFunc
	row          hermes.Session
	stored       bool
	lease        hermes.Lease
	transcript   []hermes.Message
	runtime      *Runtime
	specs        []hermes.Spec
	model        hermes.Model
	once         hermes.Model // of the next turn alone
	effort       hermes.Effort
	turn         *turn
	titleJob     *titleJob
	reviewJob    *reviewJob
	due          time.Time  // since when a review waits for its time; zero if none does
	quiet        alarm      // rings when the person has paused
	memoryJobs   memoryJobs // what the memory does
	queue        []hermes.Message
	notify       func(string) // of what Open waits for; may be nil
	questions    map[string]*question
	pendingCalls map[string]*pendingCall
	asked        int
	last         hermes.Usage
	counted      int // messages that last covers
	maxSteps     int // 0 is the manager's
	depth        int
	attended     bool // someone can answer questions
	cut          bool
	fresh        bool // something was answered, and nothing failed or met a cap since
}

// envelope carries an op, or a look at the state, to the actor.
type envelope struct {
	op    Op
	look  func(*Session)
	reply chan error
}

// Submit hands the session something to do. It returns when the session has
// taken it, with what the person should know if it could not.
func (s *Session) Submit(ctx context.Context, op Op) error {
	return s.send(ctx, envelope{op: op, reply: make(chan error, 1)})
}

// State returns how the session stands.
func (s *Session) State(ctx context.Context) (State, error) {
	var st State
	err := s.send(ctx, envelope{look: func(s *Session) { st = s.state() }, reply: make(chan error, 1)})
	return st, err
}

// ID is the session's id.
func (s *Session) ID() string { return s.id }

// Subscribe returns the events from now on. A slow reader loses nothing but
// deltas. The channel ends with the session, or when cancel is called.
func (s *Session) Subscribe(buffer int) (events <-chan hermes.Event, cancel func()) {
	return s.subs.add(buffer)
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// Close interrupts what runs, waits for it, and frees everything the session
// held. It may be called more than once.
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
	select { // taken, and answered just before the end
	case err := <-e.reply:
		return err
	default:
		return ErrClosed
	}
}

// run is the actor: it takes one thing after another until the session is
// closed.
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
		case <-s.quiet.C():
			s.paused()
		case <-s.closing:
			s.shutdown()
			return
		}
	}
}

func (s *Session) handle(e envelope) {
	if e.look != nil {
		e.look(s)
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
		return s.goOn()
	case Undo:
		_, err := s.undo()
		return err
	case Retry:
		return s.retry()
	case Compress:
		return s.compress(op)
	case Review:
		return s.review(op)
	case reviewedOp:
		return s.reviewed(op)
	case SetModel:
		return s.setModel(op)
	case SetEffort:
		s.effort = op.Effort
		return nil
	case SetTitle:
		return s.setTitle(op.Title)
	case titledOp:
		return s.takeTitle(op.title)
	case askOp:
		return s.ask(op)
	case dropOp:
		s.drop(op.id)
		return nil
	}
	return fmt.Errorf("the session does not know what to do with %T", op)
}

func (s *Session) publish(e hermes.Event) { s.subs.publish(e) }

// shutdown ends the turn and frees what the session holds, in the order it
// was taken.
func (s *Session) shutdown() {
	if s.turn != nil {
		s.turn.cancel(hermes.ErrInterrupted)
		s.queue = nil
		for s.turn != nil {
			select {
			case e := <-s.turn.events:
				s.turnEvent(e)
			case e := <-s.inbox:
				s.refuse(e)
			}
		}
	}
	s.stopTitle()
	cut := s.stopReview()
	s.memoryJobs.wait()
	s.sumUp()
	s.save(cut)
	s.err = s.free()
	s.publish(hermes.Closed{})
	s.subs.close()
	s.cancel()
}

// refuse answers what comes while the session ends. A tool that lets a
// question go must not hang.
func (s *Session) refuse(e envelope) {
	if e.look != nil {
		e.look(s)
		e.reply <- nil
		return
	}
	e.reply <- ErrClosed
}

func (s *Session) free() error {
	var errs []error
	if s.runtime != nil && s.runtime.Close != nil {
		errs = append(errs, s.runtime.Close())
	}
	if s.lease.Fence > 0 { // ended, so that retention may count its age; a resume opens it again
		ctx := context.WithoutCancel(s.ctx)
		errs = append(errs, s.cfg.Store.UpdateSession(ctx, s.id, hermes.SessionChange{End: "closed"}), s.cfg.Store.Release(ctx, s.lease))
	}
	return errors.Join(errs...)
}
