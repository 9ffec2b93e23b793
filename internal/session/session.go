package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
	"hermes/internal/agent"
	"hermes/internal/protocol"
	"hermes/internal/session/jobs"
	"hermes/internal/session/turn"
)

// Session is a live conversation. Its methods may be called concurrently.
type Session struct {
	cfg       *Config
	id        string
	workspace hermes.Workspace // never changes
	feed      *feed
	inbox     chan request
	closing   chan struct{}
	close     sync.Once
	done      chan struct{} // closed when the actor has ended
	err       error         // of closing; read after done
	manager   *Manager
	mode      mode            // without that of the sessions above; see Mode
	ctx       context.Context // ends when the session does
	cancel    context.CancelFunc

	kin
	actor // belongs to the session's goroutine
}

// kin is what a session has to do with others.
type kin struct {
	parent   *Session                   // that started this one and waits for it, or nil
	budget   *agent.Budget              // of the parent's turn; nil if there is none, or no limit
	over     chan<- hermes.TurnDone     // gets the outcome of a child's turn; nil otherwise
	misfit   func(answer string) string // what is wrong with the answer of a child; may be nil
	children int                        // how many child sessions run; guarded by manager.mu
	hanging  int                        // how many of them were given up, and have not ended; guarded by manager.mu
	beside   besides                    // the child sessions in the background
	left     []hermes.Session           // those that an earlier process did not end, and that go on
	dropped  []hermes.Session           // those with which nothing goes on, but their worktrees may be there
}

// actor is what the goroutine of a session works with.
type actor struct {
	record  *turn.Record
	run     hermes.RunSpec
	runtime *Runtime // nil until the first turn
	offer
	model     choice
	turn      *turn.Turn // nil while none runs
	jobs      *jobs.Runner
	queue     []turn.Queued // stored, too
	deferred  []request     // ops that wait until the turn is prepared
	questions questions
	said      said
	halt      halt
	ended
	notify func(string)      // Open.Waiting; may be nil
	shown  hermes.Configured // what was published last
}

// offer is the tools that the model of a session is offered.
type offer struct {
	specs  []hermes.Spec
	remake bool // the next turn makes them again
}

// ended is what became of the turns so far.
type ended struct {
	cut      bool // the last turn was cut off
	answered bool // a turn was answered, and none failed or met a cap since
}

// request carries an op to the actor, or a func that it calls, also while a turn is prepared
// or the session ends.
type request struct {
	op    hermes.Op
	from  hermes.From
	call  func() error
	reply chan error
}

// Do sends the session an op. It returns when the session has accepted or
// refused it; the error of a refusal is worded for the user. After the end of
// the session it returns hermes.ErrClosed.
func (s *Session) Do(ctx context.Context, from hermes.From, op hermes.Op) error {
	return s.send(ctx, request{op: op, from: from})
}

// call calls a func in the session's goroutine and returns its error.
func (s *Session) call(ctx context.Context, f func() error) error {
	return s.send(ctx, request{call: f})
}

func (s *Session) send(ctx context.Context, e request) error {
	e.reply = make(chan error, 1)
	select {
	case s.inbox <- e:
	case <-s.done:
		return hermes.ErrClosed
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
		return hermes.ErrClosed
	}
}

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Workspace returns where the session works.
func (s *Session) Workspace() hermes.Workspace { return s.workspace }

// Publish passes an event of the program on to whoever is attached.
func (s *Session) Publish(e hermes.Event) { s.publish(e) }

// Attach returns the state of the session and its events from there on, as
// protocol.Client does.
func (s *Session) Attach(ctx context.Context, from hermes.From, after protocol.After) (snapshot protocol.Snapshot, events <-chan protocol.Envelope, err error) {
	err = s.call(ctx, func() error {
		if s.ending() {
			return hermes.ErrClosed
		}
		snapshot, events = s.feed.attach(ctx, from, after, s.described())
		s.goOnBeside()
		return nil
	})
	if from.Attends && err == nil {
		s.manager.attended.Store(true)
	}
	return snapshot, events, err
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
	after := orNever(s.cfg.IdleAfter)
	idle := time.NewTimer(after)
	defer idle.Stop()
	s.goOnBeside()
	for {
		if s.turn == nil {
			s.record.Trim()
			s.rests()
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
			if s.turn == nil && s.feed.frontends() == 0 && !s.manager.hasChildren(s) {
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

func (s *Session) handle(e request) {
	switch {
	case e.call != nil:
		e.reply <- e.call()
	case s.turn != nil && !s.turn.Running && waitsForTurn(e.op):
		s.deferred = append(s.deferred, e)
	default:
		s.do(e, func(err error) { e.reply <- err })
	}
}

// waitsForTurn reports whether an op waits while a turn is being prepared: it would change what
// the turn is made of.
func waitsForTurn(op hermes.Op) bool {
	switch op.(type) {
	case hermes.Stop, hermes.Reply, hermes.Touch, hermes.SetMode, hermes.SetTitle, hermes.Leave:
		return false
	}
	return true
}

// do carries out an op and calls reply once with its error. A message is replied to when it is stored.
func (s *Session) do(e request, reply func(error)) {
	switch op := e.op.(type) {
	case hermes.Say:
		if reply := s.said.once(op.Key, reply); reply != nil {
			s.say(op, e.from, reply)
		}
	case hermes.Steer:
		s.steer(op.Text, e.from, reply)
	case hermes.Continue:
		s.continueTurn(reply)
	case hermes.Retry:
		s.retry(e.from, reply)
	default:
		reply(s.change(op, e.from))
	}
}

// change carries out an op that begins no turn.
func (s *Session) change(op hermes.Op, from hermes.From) error {
	switch op := op.(type) {
	case hermes.Stop:
		if from.Platform == hermes.PlatformPeer {
			return s.stopPeer(from)
		}
		return s.stop(op)
	case hermes.Reply:
		return s.reply(op, from)
	case hermes.Touch:
		return s.touch(op.ID)
	case hermes.Undo:
		return s.undo()
	case hermes.Compress:
		return s.compress(op)
	case hermes.StartReview:
		return s.review(op)
	case hermes.SetModel:
		defer s.configured()
		return s.setModel(op)
	case hermes.SetEffort:
		s.model.effort = op.Effort
		s.configured()
		return nil
	case hermes.SetMode:
		return s.setMode(op, from)
	case hermes.RenewTools:
		if s.turn != nil {
			return errors.New("a turn runs; wait for its end, or stop it with /stop")
		}
		s.remake = true
		return nil
	case hermes.SetTitle:
		return s.setTitle(op.Title)
	case hermes.Leave:
		if s.feed.leave(from) && s.parent == nil { // a child is its parent's to close
			s.close.Do(func() { close(s.closing) })
		}
		return nil
	}
	return fmt.Errorf("unknown op %T", op)
}

func (s *Session) publish(e hermes.Event) { s.feed.publish(e) }

// attended reports whether a user can be asked: one who attends the session or one above it, where
// what a child asks is shown.
func (s *Session) attended() bool {
	for ; s != nil; s = s.parent {
		if s.feed.attended() {
			return true
		}
	}
	return false
}

// shutdown ends the turn and the jobs, then frees the session's resources.
func (s *Session) shutdown() {
	s.close.Do(func() { close(s.closing) }) // an idle session, too, starts no turn any more
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
	for rest := s.beside.end(); rest != nil; { // they store their results
		select {
		case <-rest:
			rest = nil
		case e := <-s.inbox:
			s.refuse(e)
		}
	}
	s.jobs.Close(&s.manager.closing)
	s.err = s.free()
	s.publish(hermes.Closed{})
	s.feed.close()
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
func (s *Session) refuse(e request) {
	err := hermes.ErrClosed
	if e.call != nil {
		err = e.call()
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
