package session

import (
	"cmp"
	"context"
	"slices"
	"time"

	"hermes"
	"hermes/internal/agent"
)

// turn is the running turn, for the actor.
type turn struct {
	number  int64
	cancel  context.CancelCauseFunc
	events  chan turnEvent
	calls   *calls
	note    note
	steered bool // the next message of the loop has the notes that it took
	began   time.Time
	used    hermes.Usage
	final   *hermes.TurnDone
}

// turnEvent is what the loop's goroutine sends to the actor.
type turnEvent struct {
	event hermes.Event
	ack   chan error // set for Appended and Compacted: the loop waits until it is stored
	ended bool       // the last one
	err   error      // with ended: why the loop was stopped before its end
}

// turnEvents returns the events of the running turn. Without a turn it returns
// nil, which blocks forever.
func (s *Session) turnEvents() <-chan turnEvent {
	if s.turn == nil {
		return nil
	}
	return s.turn.events
}

// begin stores the message, which takes the waiting ones of these ids, and
// starts a turn with it.
func (s *Session) begin(m hermes.Message, take ...int64) error {
	s.jobs.Busy()
	if err := s.prepare(); err != nil {
		return err
	}
	if err := s.closeOpenCalls(false, nil); err != nil {
		return err
	}
	if err := s.closeUnanswered(); err != nil {
		return err
	}
	m.Turn = s.lastTurn() + 1
	s.recall(&m)
	s.addSurroundings(&m)
	if err := s.turnStarts(&m); err != nil {
		return err
	}
	if err := s.store(&m, take...); err != nil {
		return err
	}
	s.publish(hermes.TurnStarted{Turn: m.Turn, Message: m})
	return s.start(m.Turn)
}

// turnStarts adds to a message what hooks want the model to read with it.
func (s *Session) turnStarts(m *hermes.Message) error {
	added, err := s.runtime.Hooks.TurnStart(s.ctx, s.ref(m.Turn), *m)
	if err != nil {
		return err
	}
	added, from := splitProvenance(added)
	for _, p := range added {
		if !slices.Contains(m.Parts, p) { // a retried message has it
			m.Parts = append(m.Parts[:len(m.Parts):len(m.Parts)], p)
		}
	}
	m.Provenance = hermes.AddProvenance(m.Provenance, from)
	return nil
}

// start runs the loop on the transcript in a new goroutine. The actor reads
// its events until the last one.
func (s *Session) start(number int64) error {
	if err := s.prepare(); err != nil {
		return err
	}
	begun, err := s.loadPending()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	ref := s.ref(number)
	t := &turn{
		number: number, cancel: cancel, events: make(chan turnEvent, 64), began: s.cfg.Now(),
		calls: s.newCalls(ref, begun),
	}
	for call := range begun {
		t.calls.asking.set(call, true)
	}
	s.turn, s.cut = t, false
	s.jobs.Busy()
	model, hooks := s.nextModel(), s.runtime.Hooks
	work := agent.Turn{
		Model: model,
		Tools: s.runtime.Tools,
		Host:  t.calls.host,
		Request: hermes.Request{
			System: s.row.System, Tools: s.specs, Session: s.row.ID,
			Effort: s.effortOf(model.ID()), MaxTokens: cmp.Or(s.runSpec.Model.MaxTokens, s.cfg.MaxTokens), Temperature: s.runSpec.Model.Temperature,
			Scope: hermes.Scope{Cap: s.runSpec.Budget.Money}, Attended: s.attended,
		},
		Transcript: s.transcript, Number: number, Context: hooks.Engine(s.runtime.Context, ref), Last: s.last, Counted: s.counted,
		Budget: t.calls.budget, Steer: t.note.take, Now: s.cfg.Now,
		End: func(ctx context.Context, o hermes.Outcome, turn []hermes.Message) string {
			return hooks.TurnEnd(ctx, t.calls.now(), o, turn)
		},
	}
	if window := s.runtime.Window; window != nil {
		work.Window = func() int { return window(model.ID()) }
	}
	if s.runtime.Recall != nil {
		work.Model = scrubbed{model}
	}
	work.Model = hooks.Model(work.Model, ref)
	go t.run(ctx, work)
	return nil
}

// run runs the loop and sends its events to the actor.
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

// turnEvent handles one event of the turn. Changes of the transcript are
// stored before they are published.
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
		err := s.compact(e.CompactResult)
		te.ack <- err
		if err == nil {
			s.publish(e)
		}
	case hermes.CallDone:
		if !s.turn.parked(e.Call.ID) {
			s.publish(e)
		}
	case hermes.Steered:
		s.turn.steered = true // the result that has the notes is appended next
		s.publish(e)
	case hermes.TurnDone:
		s.turn.final = &e
	case hermes.UsageUpdated:
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
	if m.Role == hermes.RoleTool && s.turn.parked(m.CallID) {
		return errParked
	}
	if !s.turn.steered {
		return s.store(m)
	}
	err := s.store(m, s.turn.note.ids()...)
	if err == nil {
		s.turn.note.stored()
		s.turn.steered = false
	}
	return err
}

// parked reports whether a call stays open when the turn ends.
func (t *turn) parked(call string) bool {
	return t.calls != nil && t.calls.asking.is(call)
}

func (s *Session) lastTurn() int64 {
	if len(s.transcript) == 0 {
		return s.row.Turns
	}
	return max(s.row.Turns, s.transcript[len(s.transcript)-1].Turn)
}
