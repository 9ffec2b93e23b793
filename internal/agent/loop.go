package agent

import (
	"context"
	"errors"
	"iter"
	"time"

	"hermes"
)

// Turn is the work of one turn: everything from the person's message, which
// is the last of the transcript, to the answer.
type Turn struct {
	Model hermes.Model
	Tools Tools
	// Request is what every request of the turn has in common; its Messages
	// are filled in by the loop.
	Request hermes.Request
	// Transcript is not changed; what the turn adds is yielded as Appended. If
	// it ends with calls that have no result, the turn begins by running them.
	Transcript []hermes.Message
	Number     int64
	// Context decides what of the transcript is sent; nil sends all of it.
	Context hermes.ContextEngine
	// Window is the model's context length in tokens, 0 if unknown. Last is
	// the usage of the last answer of the turns before, which covers the
	// first Counted messages of the transcript.
	Window  int
	Last    hermes.Usage
	Counted int
	Budget  *Budget
	// Steer takes the note that waits for the model, or returns "". It is
	// called once for each batch.
	Steer func() string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Tools runs the calls of a turn. Run never fails: an error is a result that
// says so. Its methods are called concurrently for parallel calls.
type Tools interface {
	Spec(name string) (hermes.Spec, bool)
	// Preview is the main argument of a call, shortened for the person.
	Preview(c hermes.ToolCall) string
	Run(ctx context.Context, c hermes.ToolCall, progress func(text string)) hermes.Result
}

// BatchFinisher is implemented by Tools that look at all results of a batch before
// they are appended, such as to keep their total small.
type BatchFinisher interface {
	// FinishBatch may change the texts of results, which stand in the order of calls.
	FinishBatch(ctx context.Context, calls []hermes.ToolCall, results []*hermes.Result)
}

// maxContinue is how often an answer that the output limit cut is continued.
const maxContinue = 3

// Run does the turn and yields what happens, in order. The last event is
// TurnDone; if the turn failed, it comes with the error. Ending ctx
// interrupts the turn: calls under way are ended and answered, and TurnDone
// follows. Stopping the iteration does the same without further events.
func Run(ctx context.Context, t Turn) iter.Seq2[hermes.Event, error] {
	return func(yield func(hermes.Event, error) bool) {
		if t.Now == nil {
			t.Now = time.Now
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		l := &loop{Turn: t, yield: yield, cancel: cancel, began: t.Now(), last: t.Last, counted: t.Counted}
		l.Transcript = append([]hermes.Message(nil), t.Transcript...)
		l.finish(l.run(ctx))
	}
}

// loop is the state of one turn.
type loop struct {
	Turn
	yield   func(hermes.Event, error) bool
	cancel  context.CancelFunc
	stopped bool // the consumer has left
	began   time.Time
	steps   int
	usage   hermes.Usage
	last    hermes.Usage // of the last answer, to tell how full the window is
	counted int          // messages that last covers
	text    string       // the final text
	outcome hermes.Outcome
}

// run repeats: ask, run the batch. It returns when the turn has its answer,
// was interrupted, or cannot go on.
func (l *loop) run(ctx context.Context) error {
	if open := hermes.OpenCalls(l.Transcript); len(open) > 0 {
		if stopReason := l.runCalls(ctx, open, nil); stopReason != "" && ctx.Err() == nil && !l.stopped {
			return l.wrapUp(ctx, toolsStopped(stopReason))
		}
	}
	continued := 0
	for !l.stopped {
		if ctx.Err() != nil {
			return l.interrupted("")
		}
		if !l.Budget.Take() {
			return l.wrapUp(ctx, usedUp())
		}
		m, err := l.ask(ctx, false)
		if err != nil {
			return l.broken(ctx, m, err)
		}
		switch {
		case len(m.Calls) > 0:
			stopReason := l.act(ctx, m)
			if stopReason != "" && ctx.Err() == nil && !l.stopped {
				return l.wrapUp(ctx, toolsStopped(stopReason))
			}
		case m.Text() == "":
			return errEmpty // it was asked again where that helps: in the model's chain
		case m.Finish == hermes.FinishLength && continued < maxContinue:
			continued++
			l.text += m.Text()
			l.append(m)
			l.append(synthetic(continueText))
		default:
			l.text += m.Text()
			l.append(m)
			l.outcome = hermes.OutcomeDone
			return nil
		}
	}
	return nil
}

// errEmpty ends a turn whose model answers nothing.
var errEmpty = errors.New("the model answered nothing; try again, or choose another model with /model")

// act appends an answer that has calls, runs them, and appends their results.
// It returns why no more tools may be used in this turn, if a result says so.
func (l *loop) act(ctx context.Context, m hermes.Message) (stopReason string) {
	m.Turn = l.Number
	refused := normalize(&m, l.steps)
	if !l.append(m) {
		return ""
	}
	return l.runCalls(ctx, m.Calls, refused)
}

// runCalls runs calls that stand in the transcript and appends their results.
func (l *loop) runCalls(ctx context.Context, calls []hermes.ToolCall, refused map[string]string) (stopReason string) {
	batch := l.plan(calls, refused)
	l.runBatch(ctx, batch)
	l.settle(ctx, batch)
	l.appendResults(batch)
	if allRefund(batch) {
		l.Budget.Refund()
	}
	for _, c := range batch {
		if c.result.StopReason != "" {
			return c.result.StopReason
		}
	}
	return ""
}

// broken ends a turn whose model call failed or was cut.
func (l *loop) broken(ctx context.Context, partial hermes.Message, err error) error {
	if ctx.Err() != nil {
		return l.interrupted(partial.Text())
	}
	if e, ok := errors.AsType[*hermes.ModelError](err); ok && e.Class == hermes.ClassBudget {
		return l.overCap(e)
	}
	return err
}

// overCap ends a turn in words when a cap of money or tokens stops it: that is
// neither a failure nor a turn to be asked again.
func (l *loop) overCap(e *hermes.ModelError) error {
	l.outcome = hermes.OutcomeBudget
	l.text = joinText(l.text, e.Message)
	l.emit(hermes.TextDelta{Text: e.Message}) // faces show it as the answer
	m := hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "[" + e.Message + "]"}}, Synthetic: true}
	l.append(m)
	return nil
}

// interrupted ends a turn that the person stopped. What was already said
// stays in the transcript, marked, so that speakers keep taking turns.
func (l *loop) interrupted(partial string) error {
	l.outcome = hermes.OutcomeInterrupted
	l.text = partial
	if n := len(l.Transcript); n > 0 && l.Transcript[n-1].Role != hermes.RoleTool || partial != "" {
		m := hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: joinText(partial, interruptedMark)}}}
		l.append(m)
	}
	return nil
}

// finish yields the last event.
func (l *loop) finish(err error) {
	if err != nil {
		l.outcome = hermes.OutcomeFailed
	}
	if l.stopped {
		return
	}
	l.yield(hermes.TurnDone{
		Turn: l.Number, Outcome: l.outcome, Text: l.text, Steps: l.steps,
		Usage: l.usage, Duration: l.Now().Sub(l.began), Err: err,
	}, err)
}

// append adds a message to the transcript. It returns false when the consumer
// could not take it; the turn then ends, since what is not stored must not be
// acted on.
func (l *loop) append(m hermes.Message) bool {
	m.Turn = l.Number
	m.Time = l.Now()
	l.Transcript = append(l.Transcript, m)
	return l.emit(hermes.Appended{Message: m})
}

// emit yields an event unless the consumer has left.
func (l *loop) emit(e hermes.Event) bool {
	if l.stopped {
		return false
	}
	if !l.yield(e, nil) {
		l.stopped = true
		l.cancel()
	}
	return !l.stopped
}

func (l *loop) notice(level hermes.NoticeLevel, text string) {
	l.emit(hermes.Notice{Level: level, Text: text})
}
