package session

import (
	"cmp"
	"errors"
	"slices"

	"hermes"
	"hermes/internal/session/turn"
)

// say begins a turn with the message. If a turn runs, the busy mode decides.
func (s *Session) say(op hermes.Say, from hermes.From, reply func(error)) {
	m := hermes.Message{Role: hermes.RoleUser, Synthetic: op.Synthetic}
	m.Parts, m.Provenance = turn.SplitProvenance(op.Parts)
	for i := range m.Parts {
		m.Parts[i].Anchors = nil // only a context engine sets them
	}
	switch {
	case m.Text() == "" && !hasImage(m):
		reply(errors.New("the message is empty"))
	case s.turn == nil && op.Synthetic && (s.halt.held || s.cfg.halted() != nil) && s.record.Stored():
		reply(s.enqueue(m, from))
	case s.turn == nil && op.Synthetic && s.waiting(): // the program must not drop a question to the user
		reply(s.enqueue(m, from))
	case s.turn == nil && s.waiting() && hermes.FromSession(m.Provenance): // nor may another session
		reply(errWaits)
	case s.turn == nil && (op.Synthetic || s.waiting()):
		s.begin(&m, from, reply)
	case s.turn == nil:
		m, ids := s.withWaiting(m)
		s.begin(&m, from, reply, ids...)
	default:
		reply(s.sayMeanwhile(m, from, op.Busy))
	}
}

// errWaits is why a session takes no message of another one. It is worded for the model there.
var errWaits = errors.New("a question or a call there waits for its user, and a message would drop it; ask the user to answer it there first")

// sayMeanwhile takes a message while a turn runs.
func (s *Session) sayMeanwhile(m hermes.Message, from hermes.From, busy hermes.Busy) error {
	switch cmp.Or(busy, s.cfg.Busy, hermes.BusyInterrupt) {
	case hermes.BusySteer:
		if m.Provenance == "" && m.Text() != "" {
			return s.note(m.Text(), from)
		}
	case hermes.BusyInterrupt:
		if !m.Synthetic {
			q, err := s.storeWaiting(m, from, true)
			if err != nil {
				return err
			}
			s.queue = slices.Insert(s.queue, 0, q)
			s.turn.Stop(hermes.ErrInterrupted)
			return nil
		}
	}
	return s.enqueue(m, from)
}

// steer adds a note to the next result of the running turn. Without a turn the
// text is a message.
func (s *Session) steer(text string, from hermes.From, reply func(error)) {
	switch {
	case s.turn == nil:
		s.say(hermes.Say{Parts: []hermes.Part{{Text: text}}}, from, reply)
	case text == "":
		reply(nil)
	default:
		reply(s.note(text, from))
	}
}

// note adds a text to the next result of the running turn.
func (s *Session) note(text string, from hermes.From) error {
	q, err := s.storeWaiting(hermes.UserText(text), from, false)
	if err == nil {
		s.turn.Note.Add(q)
	}
	return err
}

// stop interrupts the turn and empties the queue.
func (s *Session) stop(op hermes.Stop) error {
	err := s.dropQueue()
	for _, e := range s.deferred {
		e.reply <- hermes.ErrInterrupted
	}
	s.deferred = nil
	s.jobs.Free()
	if s.turn != nil { // first: what the processes end with may wait for a call
		s.turn.Stop(hermes.ErrInterrupted)
	}
	if op.Processes {
		s.endProcesses()
	}
	return err
}

// stopPeer stops what another session asked for, and nothing else, unless a user attends who may want it.
func (s *Session) stopPeer(from hermes.From) error {
	if s.attended() {
		return nil
	}
	var ids []int64
	for _, q := range s.queue {
		if q.From.Client == from.Client {
			ids = append(ids, q.IDs...)
		}
	}
	err := s.dropWaiting(ids)
	s.deferred = slices.DeleteFunc(s.deferred, func(e request) bool {
		if _, says := e.op.(hermes.Say); !says || e.from.Client != from.Client {
			return false
		}
		e.reply <- hermes.ErrInterrupted
		return true
	})
	if s.turn != nil && s.said.by.Client == from.Client {
		s.turn.Stop(hermes.ErrInterrupted)
	}
	return err
}

// continueTurn runs a turn on the transcript as it is. If that ends with an
// answer, it begins one with the first message that waits.
func (s *Session) continueTurn(reply func(error)) {
	switch {
	case s.turn != nil:
		reply(errors.New("a turn is running"))
	case s.cut:
		s.begin(nil, hermes.From{}, reply)
	case len(s.queue) > 0:
		if err := s.cfg.halted(); err != nil {
			reply(err)
			return
		}
		s.askedFor()
		s.next()
		reply(nil)
	default:
		reply(errors.New("the last turn is finished; there is nothing to continue"))
	}
}

// lastSaid returns the last message of the user, unless a turn runs.
func (s *Session) lastSaid() (hermes.Message, error) {
	if s.turn != nil {
		return hermes.Message{}, errors.New("a turn is running; stop it first with /stop")
	}
	m, ok, err := s.record.LastSaid(s.ctx)
	if err == nil && !ok {
		err = errors.New("there is no exchange to undo")
	}
	return m, err
}

// undo removes the last message of the user and everything after it from the
// transcript.
func (s *Session) undo() error {
	m, err := s.lastSaid()
	if err != nil {
		return err
	}
	s.jobs.Free()
	return s.forget(m.ID)
}

// rewind removes a message and everything after it from the transcript.
func (s *Session) rewind(id int64) error {
	children := s.undone()
	if err := s.record.Rewind(s.ctx, id); err != nil {
		return s.writeFailed(err)
	}
	s.dropChildren(children)
	s.rewritten(hermes.Rewound{ID: id})
	return nil
}

// rewritten tells that the transcript is another one than before.
func (s *Session) rewritten(e hermes.Rewound) {
	if s.runtime != nil {
		if s.runtime.Follower != nil {
			s.runtime.Follower.Rewritten("undo")
		}
		s.runtime.Hooks.Compacted(s.ctx, s.ref(s.record.LastTurn()))
	}
	s.publish(e)
}

// retry sends the last message of the user again. The exchange is undone when its turn is
// prepared: if that fails, nothing has changed.
func (s *Session) retry(from hermes.From, reply func(error)) {
	m, err := s.lastSaid()
	if err != nil {
		reply(err)
		return
	}
	s.begin(&hermes.Message{ID: m.ID, Role: hermes.RoleUser, Parts: m.Parts, Provenance: m.Provenance}, from, reply)
}

// compress shortens the transcript because the user asked for it. It runs as a
// turn, so that it can be stopped.
func (s *Session) compress(op hermes.Compress) error {
	switch {
	case s.turn != nil:
		return errors.New("a turn is running; stop it first with /stop, or wait until it ends")
	case s.waiting():
		return errors.New("a question waits for your answer; use /continue to see it again")
	case s.runtime == nil || s.runtime.Context == nil || s.record.Empty():
		return errors.New("there is nothing to compress yet")
	}
	if err := s.cfg.halted(); err != nil {
		return err
	}
	s.jobs.Busy()
	if err := s.record.Load(s.ctx); err != nil {
		return err
	}
	u := s.usage()
	u.Demand, u.Focus, u.Keep = true, op.Topic, op.Keep
	s.turn = turn.New(s.ctx, s.record.LastTurn(), s.cfg.Now())
	engine := s.runtime.Hooks.Engine(s.runtime.Context, s.ref(s.turn.Number))
	s.turn.Compress(engine, s.record.Messages(), u, s.cfg.Now)
	return nil
}

// usage says how full the window of the session's model is.
func (s *Session) usage() hermes.ContextUsage {
	last := s.record.Last
	u := hermes.ContextUsage{
		Model: s.record.Row.Model, Counted: s.record.Counted,
		Used: int((last.Prompt() + last.Output) / max(last.Calls, 1)), // failed attempts had the same prompt
	}
	if s.runtime != nil && s.runtime.Window != nil {
		u.Window = s.runtime.Window(u.Model)
	}
	return u
}

func hasImage(m hermes.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p hermes.Part) bool { return p.Image != nil })
}
