package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hermes"
	"hermes/internal/agent"
)

// turn is the turn that runs, as the actor sees it.
type turn struct {
	number int64
	cancel context.CancelCauseFunc
	events chan turnEvent
	tools  *tools
	note   note
	began  time.Time
	used   hermes.Usage
	final  *hermes.TurnDone
}

// turnEvent is what the loop's goroutine tells the actor.
type turnEvent struct {
	event hermes.Event
	ack   chan error // set for Appended and Compacted: the loop waits until it is stored
	ended bool       // the last one
	err   error      // with ended: why the loop was left before its own end
}

// note is the text that waits for the model; the loop takes it from its own
// goroutine.
type note struct {
	mu   sync.Mutex
	text string
}

func (n *note) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.text != "" {
		n.text += "\n"
	}
	n.text += text
}

func (n *note) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.text
	n.text = ""
	return text
}

// turnEvents is nil, which never delivers, while no turn runs.
func (s *Session) turnEvents() <-chan turnEvent {
	if s.turn == nil {
		return nil
	}
	return s.turn.events
}

// begin stores the message and starts a turn with it.
func (s *Session) begin(m hermes.Message) error {
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.settleOpen(false, nil); err != nil {
		return err
	}
	if err := s.closeUnanswered(); err != nil {
		return err
	}
	m.Turn = s.lastTurn() + 1
	s.recall(&m)
	s.lookAround(&m)
	if err := s.store(&m); err != nil {
		return err
	}
	s.publish(hermes.TurnStarted{Turn: m.Turn, Message: m})
	return s.start(m.Turn)
}

// prepare makes sure that the session has a row, a lease, its model, and a
// prompt that will not change any more.
func (s *Session) prepare() error {
	if err := s.equip(); err != nil {
		return err
	}
	if s.model == nil {
		m, err := s.cfg.Models.Model(s.ctx, s.row.Model)
		if err != nil {
			return err
		}
		s.model = m
		s.row.Model = m.ID()
	}
	if s.row.System == "" {
		if err := s.fixPrefix(); err != nil {
			return err
		}
	}
	return s.persist()
}

// fixPrefix builds the prompt and the list of tools, once for all time.
func (s *Session) fixPrefix() error {
	tools, err := encodeSpecs(s.gear.Tools.Specs())
	if err != nil {
		return err
	}
	specs, err := decodeSpecs(tools) // the very values a resumed session reads
	if err != nil {
		return err
	}
	system, err := s.gear.System(s.ctx, s.row.Model, specs)
	if err != nil {
		return fmt.Errorf("build the system prompt: %w", err)
	}
	outside := hermes.AddOutside(s.row.Outside, system.Outside)
	s.specs, s.row.Tools, s.row.System, s.row.Layers, s.row.Outside = specs, tools, system.Text, system.Layers, outside
	if !s.stored {
		return nil
	}
	return s.cfg.Store.UpdateSession(s.ctx, s.row.ID, hermes.SessionChange{System: &system.Text, Tools: &tools, Layers: &system.Layers, Outside: &outside})
}

// start runs the loop on the transcript in a goroutine of its own; the actor
// reads its events until the ended one.
func (s *Session) start(number int64) error {
	if err := s.prepare(); err != nil {
		return err
	}
	begun, err := s.takeUp()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	ref := s.ref(number)
	t := &turn{
		number: number, cancel: cancel, events: make(chan turnEvent, 64), began: s.cfg.Now(),
		tools: &tools{session: s, box: s.gear.Tools, ref: ref, mark: &mark{from: ref.Outside}, begun: begun},
	}
	for call := range begun {
		t.tools.asking.set(call, true)
	}
	s.turn, s.cut = t, false
	s.quiet.stop()
	s.gear.Tools.TurnStarted()
	model := s.nextModel()
	work := agent.Turn{
		Model: model,
		Tools: t.tools,
		Request: hermes.Request{
			System: s.row.System, Tools: s.specs, Session: s.row.ID,
			Effort: s.effortOf(model.ID()), MaxTokens: s.cfg.MaxTokens,
		},
		Transcript: s.transcript, Number: number, Context: s.gear.Context, Last: s.last, Counted: s.counted,
		Budget: agent.NewBudget(s.steps()), Steer: t.note.take, Now: s.cfg.Now,
	}
	if s.gear.Window != nil {
		work.Window = s.gear.Window(model.ID())
	}
	if s.gear.Recall != nil {
		work.Model = unfenced{model}
	}
	go t.run(ctx, work)
	return nil
}

func (s *Session) steps() int {
	if s.maxSteps > 0 {
		return s.maxSteps
	}
	return s.cfg.Steps
}

// run drives the loop and hands the actor what it yields.
func (t *turn) run(ctx context.Context, work agent.Turn) {
	defer t.cancel(nil)
	var failed error
	for e := range agent.Run(ctx, work) {
		te := turnEvent{event: e}
		switch e.(type) {
		case hermes.Appended, hermes.Compacted:
			te.ack = make(chan error, 1)
		}
		t.events <- te
		if te.ack == nil {
			continue
		}
		if failed = <-te.ack; failed != nil {
			break
		}
	}
	t.events <- turnEvent{ended: true, err: failed}
}

// turnEvent takes one event of the turn: what is appended is stored first,
// then everyone is told.
func (s *Session) turnEvent(te turnEvent) {
	if te.ended {
		s.endTurn(te.err)
		return
	}
	switch e := te.event.(type) {
	case hermes.Appended:
		err := s.appended(&e.Message)
		te.ack <- err
		if err == nil {
			s.publish(e)
		}
	case hermes.Compacted:
		err := s.compact(e.Fitted)
		te.ack <- err
		if err == nil {
			s.publish(e)
		}
	case hermes.CallDone:
		if !s.turn.left(e.Call.ID) {
			s.publish(e)
		}
	case hermes.TurnDone:
		s.turn.final = &e
	case hermes.Used:
		s.last, s.counted = e.Step, len(s.transcript)+1 // the answer is appended next
		s.turn.used = e.Turn
		s.publish(e)
	default:
		s.publish(e)
	}
}

// appended stores a message of the loop. The result of a call whose question
// stays open is refused, which ends the loop.
func (s *Session) appended(m *hermes.Message) error {
	if m.Role == hermes.RoleTool && s.turn.left(m.CallID) {
		return errParked
	}
	return s.store(m)
}

// left reports whether the turn leaves a call open.
func (t *turn) left(call string) bool {
	return t.tools != nil && t.tools.asking.is(call)
}

// broken is the end of a turn whose loop was left before its own end.
func (s *Session) broken(t *turn, why error) *hermes.TurnDone {
	done := &hermes.TurnDone{Turn: t.number, Outcome: hermes.OutcomeInterrupted, Usage: t.used, Duration: s.cfg.Now().Sub(t.began)}
	if !errors.Is(why, errParked) {
		done.Outcome, done.Err = hermes.OutcomeFailed, s.writeFailed(why)
	} else if len(s.queue) == 0 {
		s.publish(hermes.Notice{Level: hermes.NoticeInfo, Text: stillOpen})
	}
	return done
}

// stillOpen tells the person what becomes of a question that was left.
const stillOpen = "The question stays open: /continue asks it again; if you say something else, it is dropped."

// endTurn closes the books of a turn and begins the next one that waits.
func (s *Session) endTurn(failed error) {
	t := s.turn
	s.turn = nil
	s.dropAll()
	done := t.final
	if done == nil {
		done = s.broken(t, failed)
	}
	s.cut = done.Outcome == hermes.OutcomeFailed && s.unanswered() || s.waiting()
	s.fresh = done.Outcome == hermes.OutcomeDone || s.fresh && done.Outcome == hermes.OutcomeInterrupted
	s.addUsage(done.Usage)
	if rest := t.note.take(); rest != "" { // came after the last batch
		s.queue = append([]hermes.Message{hermes.UserText(rest)}, s.queue...)
	}
	s.publish(*done)
	s.findTitle(*done)
	s.observe(*done)
	s.lookBack(*done)
	s.next()
}

// next begins a turn with the first message that waits.
func (s *Session) next() {
	if len(s.queue) == 0 || s.ctx.Err() != nil {
		return
	}
	m := s.queue[0]
	s.queue = s.queue[1:]
	s.publish(hermes.Queued{Waiting: len(s.queue)})
	if err := s.begin(m); err != nil {
		s.publish(hermes.TurnDone{Turn: s.lastTurn(), Outcome: hermes.OutcomeFailed, Err: err})
	}
}

func (s *Session) lastTurn() int64 {
	if len(s.transcript) == 0 {
		return s.row.Turns
	}
	return max(s.row.Turns, s.transcript[len(s.transcript)-1].Turn)
}

func (s *Session) ref(turn int64) hermes.SessionRef {
	return hermes.SessionRef{
		ID: s.row.ID, Turn: turn, Platform: s.row.Source, User: s.row.User, Dir: s.row.Dir, Depth: s.depth, Outside: s.outside(),
	}
}
