package turn

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hermes"
	"hermes/internal/agent"
)

// Turn is a turn that is being prepared or runs. Its loop runs in a goroutine of its own
// and sends events; all else belongs to the session's goroutine.
type Turn struct {
	Number int64
	Began  time.Time
	// Running says that the loop was started; before, the turn is being prepared.
	Running bool
	// Compression says that the turn only shortens the transcript.
	Compression bool
	Note        Note

	ctx     context.Context
	cancel  context.CancelCauseFunc
	events  chan Event
	calls   *Calls
	steered bool // the next message of the loop has the notes that it took
	used    hermes.Usage
	stored  hermes.Usage // the part of used that the session's row has
	final   *hermes.TurnDone
	broken  error // why the session stopped the loop
}

// Event is what the loop's goroutine sends to the session.
type Event struct {
	event hermes.Event
	ack   chan error // set for Appended and Compacted: the loop waits until it is stored
	ended bool       // the last one
	err   error      // with ended: why the loop was stopped before its end
}

// New returns a turn that is not running yet. Its context ends with ctx.
func New(ctx context.Context, number int64, now time.Time) *Turn {
	t := &Turn{Number: number, Began: now, events: make(chan Event, 64)}
	t.ctx, t.cancel = context.WithCancelCause(ctx)
	return t
}

// Context returns the context of the turn, which ends when it is stopped.
func (t *Turn) Context() context.Context { return t.ctx }

// Stop interrupts the turn. Its events go on until the last one.
func (t *Turn) Stop(cause error) { t.cancel(cause) }

// Events returns the events of the turn, for [Turn.Take].
func (t *Turn) Events() <-chan Event { return t.events }

// Run runs the loop in a new goroutine, with these hosts for its calls.
func (t *Turn) Run(work agent.Turn, calls *Calls) {
	t.Running, t.calls = true, calls
	work.Host, work.Steer = calls.Host, t.Note.take
	go t.run(work)
}

// run sends the events of the loop to the session.
func (t *Turn) run(work agent.Turn) {
	defer t.cancel(nil)
	var failed error
	for e := range agent.Run(t.ctx, work) {
		te := Event{event: e}
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
	t.events <- Event{ended: true, err: failed}
}

// Compress asks a context engine for a shorter transcript, in a new goroutine.
func (t *Turn) Compress(engine hermes.ContextEngine, transcript []hermes.Message, u hermes.ContextUsage, now func() time.Time) {
	t.Running, t.Compression = true, true
	go t.compress(engine, transcript, u, now)
}

func (t *Turn) compress(engine hermes.ContextEngine, transcript []hermes.Message, u hermes.ContextUsage, now func() time.Time) {
	defer t.cancel(nil)
	// Sent from here and not by the caller, so that it comes before the outcome.
	t.events <- Event{event: hermes.Notice{Level: hermes.NoticeInfo, Text: "Compressing the conversation. Use /stop to cancel."}}
	done := hermes.TurnDone{Turn: t.Number, Outcome: hermes.OutcomeDone}
	f, err := engine.Fit(t.ctx, transcript, u)
	switch {
	case t.ctx.Err() != nil:
		done.Outcome = hermes.OutcomeInterrupted
	case err != nil:
		done.Outcome, done.Failure = hermes.OutcomeFailed, hermes.FailureOf(err)
	case f.From == nil:
		done.Text = cmp.Or(f.Note, "The conversation is too short to compress.")
	default:
		te := Event{event: hermes.Compacted{CompactResult: f, Note: f.Note}, ack: make(chan error, 1)}
		t.events <- te
		if err := <-te.ack; err != nil {
			done.Outcome, done.Failure = hermes.OutcomeFailed, hermes.FailureOf(err)
		}
		done.Text = f.Note
	}
	done.Duration = now().Sub(t.Began)
	t.events <- Event{event: done}
	t.events <- Event{ended: true}
}

// ErrParked ends a turn whose question stays open.
var ErrParked = errors.New("a question waits for the user")

// Take handles one event: a change of the transcript is stored in the record and only
// then published. over says that it was the last one.
func (t *Turn) Take(r *Record, te Event, publish func(hermes.Event)) (over bool) {
	if te.ended {
		t.broken = te.err
		return true
	}
	var err error
	switch e := te.event.(type) {
	case hermes.Appended:
		err = t.appended(r, &e.Message)
		te.event = e // with its id
	case hermes.Compacted:
		err = r.Compact(t.ctx, e.CompactResult)
	case hermes.CallDone:
		if t.parked(e.Call.ID) {
			return false
		}
	case hermes.Steered:
		t.steered = true // the result that has the notes is appended next
	case hermes.TurnDone:
		t.final = &e
		return false
	case hermes.UsageUpdated:
		r.Last, r.Counted = e.Step, len(r.messages)+1 // the answer is appended next
		t.used = e.Turn
	}
	if te.ack != nil {
		te.ack <- err
	}
	if err == nil {
		publish(te.event)
	}
	return false
}

// appended stores a message of the loop. The result of a call whose question
// stays open is refused, which ends the loop.
func (t *Turn) appended(r *Record, m *hermes.Message) error {
	if m.Role == hermes.RoleTool && t.parked(m.CallID) {
		return ErrParked
	}
	c := hermes.Change{Usage: t.Unstored(t.used)}
	if t.steered {
		c.TakeWaiting = t.Note.ids()
	}
	if err := r.Append(t.ctx, m, c); err != nil {
		return err
	}
	t.stored = t.used
	if t.steered {
		t.Note.stored()
		t.steered = false
	}
	return nil
}

// Unstored returns the part of a usage of the turn that no message of it was stored with.
func (t *Turn) Unstored(u hermes.Usage) hermes.Usage {
	return hermes.Usage{
		Input: u.Input - t.stored.Input, Output: u.Output - t.stored.Output, Reasoning: u.Reasoning - t.stored.Reasoning,
		CacheRead: u.CacheRead - t.stored.CacheRead, CacheWrite: u.CacheWrite - t.stored.CacheWrite, Calls: u.Calls - t.stored.Calls,
	}
}

// parked reports whether a call stays open when the turn ends.
func (t *Turn) parked(call string) bool {
	if t.calls == nil {
		return false
	}
	open, _ := t.calls.asking.Load(call)
	return open == true
}

// Done returns the outcome of a turn that is over. If the session stopped the loop before it
// had one, err says why, and the outcome is an interruption.
func (t *Turn) Done(now time.Time) (done hermes.TurnDone, err error) {
	if t.final != nil {
		return *t.final, nil
	}
	return hermes.TurnDone{Turn: t.Number, Outcome: hermes.OutcomeInterrupted, Usage: t.used, Duration: now.Sub(t.Began)}, t.broken
}
