package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"hermes"
	"hermes/internal/session/jobs"
	"hermes/internal/session/turn"
)

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
	ctx     context.Context // ends when the session does
	cancel  context.CancelFunc

	actor // belongs to the session's goroutine
}

// actor is what the goroutine of a session works with.
type actor struct {
	record    *turn.Record
	run       hermes.RunSpec
	runtime   *Runtime // nil until the first turn
	specs     []hermes.Spec
	model     choice
	turn      *turn.Turn // nil while none runs
	jobs      *jobs.Runner
	queue     []turn.Queued // stored, too
	deferred  []envelope    // ops that wait until the turn is prepared
	questions questions
	attended  bool         // a frontend is attached whose user can answer
	watched   bool         // or one to its parent, whose user waits for it
	cut       bool         // the last turn was cut off
	answered  bool         // a turn was answered, and none failed or met a cap since
	notify    func(string) // Open.Waiting; may be nil
}

// envelope carries an op to the actor.
type envelope struct {
	op    Op
	reply chan error
}

// action is an op of the program itself: a func that the actor calls, also while a turn is
// prepared or the session ends.
type action func(*Session) error

func (action) op() {}

// Submit sends the session an op. It returns when the session has accepted or
// refused it; the error of a refusal is worded for the user. After the end of
// the session it returns ErrClosed.
func (s *Session) Submit(ctx context.Context, op Op) error {
	e := envelope{op, make(chan error, 1)}
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

// live handles one op or event after another until the session is closed. It is the
// session's goroutine.
func (s *Session) live() {
	renew := time.NewTicker(turn.LeaseTime / 3)
	defer renew.Stop()
	const never = math.MaxInt64
	after := cmp.Or(max(s.cfg.IdleAfter, 0), never)
	idle := time.NewTimer(after)
	defer idle.Stop()
	for {
		if s.turn == nil {
			s.record.Trim()
		}
		select {
		case e := <-s.inbox:
			s.handle(e)
		case e := <-s.turnEvents():
			s.take(e)
		case <-renew.C:
			s.renew()
			continue
		case <-idle.C:
			if s.turn == nil && s.subs.empty() {
				s.shutdown()
				return
			}
		case <-s.closing:
			s.shutdown()
			return
		}
		if s.turn == nil {
			idle.Reset(after)
		}
	}
}

func (s *Session) handle(e envelope) {
	if s.turn != nil && !s.turn.Running && waitsForTurn(e.op) {
		s.deferred = append(s.deferred, e)
		return
	}
	s.do(e.op, func(err error) { e.reply <- err })
}

// waitsForTurn reports whether an op waits while a turn is being prepared: it would change what
// the turn is made of.
func waitsForTurn(op Op) bool {
	switch op.(type) {
	case Stop, Reply, SetTitle, action:
		return false
	}
	return true
}

// do carries out an op and calls reply once with its error. A message is replied to when it is stored.
func (s *Session) do(op Op, reply func(error)) {
	switch op := op.(type) {
	case Say:
		s.say(op, reply)
	case Steer:
		s.steer(op.Text, reply)
	case Continue:
		s.continueTurn(reply)
	case Retry:
		s.retry(reply)
	default:
		reply(s.change(op))
	}
}

// change carries out an op that begins no turn.
func (s *Session) change(op Op) error {
	switch op := op.(type) {
	case Stop:
		return s.stop(op)
	case Reply:
		return s.reply(op)
	case Undo:
		return s.undo()
	case Compress:
		return s.compress(op)
	case Review:
		return s.review(op)
	case SetModel:
		return s.setModel(op)
	case SetEffort:
		s.model.effort = op.Effort
		return nil
	case SetTitle:
		return s.setTitle(op.Title)
	case action:
		return op(s)
	}
	return fmt.Errorf("unknown op %T", op)
}

func (s *Session) publish(e hermes.Event) { s.subs.publish(e) }

// shutdown ends the turn and the jobs, then frees the session's resources.
func (s *Session) shutdown() {
	s.jobs.Free()
	if s.turn != nil {
		s.turn.Stop(hermes.ErrInterrupted)
		for s.turn != nil {
			select {
			case e := <-s.turn.Events():
				s.take(e)
			case e := <-s.inbox:
				s.refuse(e)
			}
		}
	}
	s.jobs.Close(&s.manager.closing)
	s.err = s.free()
	s.publish(hermes.Closed{})
	s.subs.close()
	s.cancel()
}

// ending reports whether the session is being closed.
func (s *Session) ending() bool {
	select {
	case <-s.closing:
		return true
	default:
		return s.ctx.Err() != nil
	}
}

// refuse answers ops that arrive while the session ends.
func (s *Session) refuse(e envelope) {
	err := ErrClosed
	if do, ok := e.op.(action); ok {
		err = do(s)
	}
	e.reply <- err
}

func (s *Session) free() error {
	var errs []error
	if s.runtime != nil {
		s.runtime.Hooks.SessionEnd(s.ctx, s.ref(s.record.LastTurn()))
		if s.runtime.Close != nil {
			errs = append(errs, s.runtime.Close())
		}
	}
	return errors.Join(append(errs, s.record.Release(s.ctx))...)
}

// renew renews the lease. If it is lost, another process runs the session, and
// this one stops at once and writes nothing more.
func (s *Session) renew() {
	err := s.record.Renew(s.ctx)
	switch {
	case errors.Is(err, hermes.ErrStaleLease):
		s.lost()
	case err != nil:
		s.cfg.Log.Warn("renew the lease", "session", s.id, "err", err)
	}
}

func (s *Session) lost() {
	s.record.Lose()
	if s.turn != nil {
		s.turn.Stop(hermes.ErrStaleLease)
	}
	s.close.Do(func() {
		s.publish(hermes.Notice{Level: hermes.NoticeWarning, Text: "Another Hermes process took this session over. This one stops."})
		close(s.closing)
	})
}

// writeFailed words an error of the store for the user.
func (s *Session) writeFailed(err error) error {
	if errors.Is(err, hermes.ErrStaleLease) {
		s.lost()
		return err
	}
	return fmt.Errorf("the conversation could not be stored, so the turn was stopped: %w", err)
}
