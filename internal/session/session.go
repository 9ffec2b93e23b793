package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
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
	ctx        context.Context // ends when the session does
	cancel     context.CancelFunc
	row        hermes.Session
	stored     bool
	lease      hermes.Lease
	transcript []hermes.Message
	gear       *Equipment
	specs      []hermes.Spec
	model      hermes.Model
	once       hermes.Model // of the next turn alone
	effort     hermes.Effort
	turn       *turn
	titling    *titling
	looking    *lookback
	due        time.Time // since when a review waits for its time; zero if none does
	quiet      alarm     // rings when the person has paused
	beside     beside    // what the memory does
	queue      []hermes.Message
	told       func(string) // of what Open waits for; may be nil
	questions  map[string]*question
	kept       map[string]*held
	asked      int
	last       hermes.Usage
	counted    int // messages that last covers
	maxSteps   int // 0 is the manager's
	depth      int
	attended   bool // someone can answer questions
	cut        bool
	fresh      bool // something was answered, and nothing failed or met a cap since
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

// say begins a turn with the message, or does what the busy mode says.
func (s *Session) say(op Say) error {
	m := hermes.Message{Role: hermes.RoleUser, Synthetic: op.Synthetic}
	m.Parts, m.Outside = lift(op.Parts)
	if m.Text() == "" && !hasImage(m) {
		return errors.New("the message is empty")
	}
	switch {
	case s.turn == nil && op.Synthetic && s.waiting(): // the program does not drop a question to the person
		s.queue = append(s.queue, m)
		return nil
	case s.turn == nil:
		return s.begin(m)
	}
	switch cmp.Or(op.Busy, s.cfg.Busy, BusyInterrupt) {
	case BusySteer:
		if m.Outside == "" {
			return s.steer(m.Text())
		}
	case BusyInterrupt:
		if !op.Synthetic {
			s.queue = slices.Insert(s.queue, 0, m)
			s.turn.cancel(hermes.ErrInterrupted)
			return nil
		}
	}
	if len(s.queue) >= maxQueue {
		return fmt.Errorf("%d messages are waiting already; wait for an answer or stop the turn with /stop", maxQueue)
	}
	s.queue = append(s.queue, m)
	s.publish(hermes.Queued{Waiting: len(s.queue)})
	return nil
}

func (s *Session) steer(text string) error {
	if s.turn == nil {
		return s.say(Say{Parts: []hermes.Part{{Text: text}}})
	}
	s.turn.note.add(text)
	return nil
}

func (s *Session) stop(op Stop) error {
	s.queue = nil
	s.publish(hermes.Queued{})
	if op.Processes && s.gear != nil && s.gear.Halt != nil {
		s.gear.Halt()
	}
	if s.turn != nil {
		s.turn.cancel(hermes.ErrInterrupted)
	}
	return nil
}

// goOn runs a turn on the transcript as it is.
func (s *Session) goOn() error {
	if s.turn != nil {
		return errors.New("a turn is running")
	}
	if !s.cut {
		return errors.New("the last turn is finished; there is nothing to continue")
	}
	return s.start(s.lastTurn())
}

// undo takes back the last message of the person and what followed it.
func (s *Session) undo() (hermes.Message, error) {
	if s.turn != nil {
		return hermes.Message{}, errors.New("a turn is running; stop it first with /stop")
	}
	for i := len(s.transcript) - 1; i >= 0; i-- {
		m := s.transcript[i]
		if m.Role != hermes.RoleUser || m.Synthetic {
			continue
		}
		if err := s.cfg.Store.Rewind(s.ctx, s.lease, m.ID); err != nil {
			return hermes.Message{}, s.writeFailed(err)
		}
		s.transcript = slices.Clip(s.transcript[:i])
		s.cut = false
		return m, nil
	}
	return hermes.Message{}, errors.New("there is no exchange to take back")
}

func (s *Session) retry() error {
	m, err := s.undo()
	if err != nil {
		return err
	}
	return s.begin(hermes.Message{Role: hermes.RoleUser, Parts: m.Parts, Outside: m.Outside})
}

func (s *Session) setModel(op SetModel) error {
	m, err := s.cfg.Models.Model(s.ctx, op.Ref)
	if err != nil {
		return err
	}
	if op.Once {
		s.once = m
		return nil
	}
	s.model, s.once = m, nil
	s.row.Model = m.ID()
	if !s.stored {
		return nil
	}
	return s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{Model: &s.row.Model})
}

// nextModel is the model of the turn that begins now.
func (s *Session) nextModel() hermes.Model {
	m := s.model
	if s.once != nil {
		m, s.once = s.once, nil
	}
	return m
}

// effortOf is how hard a model is asked to think: what the person said in this
// session, else what is configured.
func (s *Session) effortOf(model string) hermes.Effort {
	if s.effort != "" || s.cfg.Effort == nil {
		return s.effort
	}
	return s.cfg.Effort(model)
}

func (s *Session) setTitle(title string) error {
	if !s.stored {
		return errors.New("the session has no messages yet; give it a title after the first one")
	}
	if err := s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{Title: &title}); err != nil {
		return err
	}
	row, err := s.cfg.Store.FindSession(s.ctx, s.row.ID)
	if err != nil {
		return err
	}
	s.row.Title = row.Title
	s.publish(hermes.Titled{Title: row.Title})
	return nil
}

func (s *Session) state() State {
	st := State{
		Row: s.row, Transcript: slices.Clip(s.transcript), Running: s.turn != nil, Queued: len(s.queue),
		Cut: s.cut, Asking: s.waiting(), Last: s.last, Tools: s.specs, Effort: s.effortOf(s.row.Model),
	}
	if s.once != nil {
		st.Next = s.once.ID()
	}
	if s.gear == nil {
		return st
	}
	if s.gear.Window != nil {
		st.Window = s.gear.Window(s.row.Model)
	}
	if t, ok := s.gear.Context.(interface{ Threshold(window int) int }); ok {
		st.Threshold = t.Threshold(st.Window)
	}
	if s.gear.Prefix != nil {
		st.Broken, st.Breaks = s.gear.Prefix()
	}
	return st
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
	s.beside.settle()
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
	if s.gear != nil && s.gear.Close != nil {
		errs = append(errs, s.gear.Close())
	}
	if s.lease.Fence > 0 { // ended, so that retention may count its age; a resume opens it again
		ctx := context.WithoutCancel(s.ctx)
		errs = append(errs, s.cfg.Store.UpdateSession(ctx, s.id, hermes.SessionChange{End: "closed"}), s.cfg.Store.Release(ctx, s.lease))
	}
	return errors.Join(errs...)
}

func hasImage(m hermes.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Image != nil })
}
