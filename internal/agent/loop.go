package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"hermes"
	"hermes/internal/repetition"
)

// Turn is the input of one turn: from the user's message, the last one of the
// transcript, to the answer.
type Turn struct {
	Model hermes.Model
	Tools hermes.Tools
	// Host returns what a call may use of its session. It may be called
	// concurrently. Nil means that calls have no host.
	Host func(c hermes.ToolCall, r *Running) hermes.Host
	// Request is the same for every request of the turn, except that the loop
	// fills in Messages.
	Request hermes.Request
	// Transcript is not changed; what the turn adds is yielded as Appended. If
	// it ends with calls that have no result, the turn begins by running them.
	Transcript []hermes.Message
	Number     int64
	// Context decides which part of the transcript is sent; nil sends all.
	Context hermes.ContextEngine
	// Window returns the model's context length in tokens, as it is known now: a
	// refusal may have shown it. 0 is unknown, and so is nil.
	Window func() int
	// Last is the usage of the last answer in the earlier turns. It covers the
	// first Counted messages of the transcript.
	Last    hermes.Usage
	Counted int
	Budget  *Budget
	// Steer returns and removes the note that waits for the model, or returns
	// "". It is called once for each batch. Nil means no notes.
	Steer func() string
	// End is called with the messages of the turn when it has its outcome. A turn
	// that is done goes on once with the text that it returns. Nil ends the turn.
	End func(ctx context.Context, o hermes.Outcome, turn []hermes.Message) (goOn string)
	// Confirm returns what the answer of a turn that is done claims, although nothing supports
	// it. It gets the transcript with the turn. Nil confirms everything.
	Confirm func(ctx context.Context, answer string, transcript []hermes.Message) []hermes.Unconfirmed
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// maxContinue is how often an answer is continued that the output limit cut.
const maxContinue = 3

// Run runs the turn and yields its events in order. The last event is
// TurnDone; if the turn failed, the error comes with it. Ending ctx interrupts
// the turn: running calls end and get results, then TurnDone follows. Stopping
// the iteration does the same without further events.
func Run(ctx context.Context, t Turn) iter.Seq2[hermes.Event, error] {
	return func(yield func(hermes.Event, error) bool) {
		if t.Now == nil {
			t.Now = time.Now
		}
		if t.Window == nil {
			t.Window = func() int { return 0 }
		}
		if starter, ok := t.Tools.(hermes.TurnStarter); ok {
			starter.TurnStarted()
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		l := &loop{Turn: t, caller: &caller{tools: t.Tools, host: t.Host, now: t.Now}, yield: yield, cancel: cancel, began: t.Now(), last: t.Last, counted: t.Counted}
		l.Transcript = append([]hermes.Message(nil), t.Transcript...)
		l.finish(ctx, l.run(ctx))
	}
}

// loop is the state of one turn.
type loop struct {
	Turn
	caller  *caller
	yield   func(hermes.Event, error) bool
	cancel  context.CancelFunc
	stopped bool // the consumer stopped the iteration
	began   time.Time
	steps   int
	usage   hermes.Usage
	last    hermes.Usage // of the last answer: how full the window is
	counted int          // messages that last covers
	text    string       // the final text
	outcome hermes.Outcome
	ended   bool // End knows the outcome
	went    bool // the turn went on once
}

// run calls the model and runs the batch, again and again. It returns when the
// turn has its answer, is interrupted, or cannot go on.
func (l *loop) run(ctx context.Context) error {
	if open := hermes.OpenCalls(l.Transcript); len(open) > 0 {
		if stopReason := l.runCalls(ctx, open, l.refusedAgain(open)); stopReason != "" && ctx.Err() == nil && !l.stopped {
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
		if _, full := errors.AsType[tooLong](err); full && continued > 0 && ctx.Err() == nil {
			l.leftCut()
			return nil
		}
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
			return errEmpty // the model chain has retried already
		case m.Finish == hermes.FinishLength && continued < maxContinue:
			continued++
			l.text += m.Text()
			l.append(m)
			l.append(synthetic(continueText))
		default:
			l.answered(m)
			if !l.goesOn(ctx) {
				return nil
			}
		}
	}
	return nil
}

// goesOn ends a turn that has its answer, unless it is told to go on, once.
func (l *loop) goesOn(ctx context.Context) bool {
	l.outcome = hermes.OutcomeDone
	wish := ""
	if !l.went {
		wish = l.end(ctx)
	}
	if wish == "" || l.stopped {
		return false
	}
	l.went, l.ended, l.outcome, l.text = true, false, "", ""
	l.append(synthetic(wish))
	return true
}

// end calls Turn.End, once for each outcome.
func (l *loop) end(ctx context.Context) (goOn string) {
	if l.End == nil || l.ended {
		return ""
	}
	l.ended = true
	var turn []hermes.Message
	for _, m := range l.Transcript {
		if m.Turn == l.Number {
			turn = append(turn, m)
		}
	}
	return l.End(ctx, l.outcome, turn)
}

// answered appends the final answer. If it was cut, it ends with a mark that says
// so.
func (l *loop) answered(m hermes.Message) {
	if mark := incomplete(m.Finish); mark != "" {
		m.Parts = []hermes.Part{{Text: joinText(m.Text(), mark)}}
		l.emit(hermes.TextDelta{Text: "\n\n" + mark})
	}
	l.text += m.Text()
	l.append(m)
}

// leftCut ends a turn with the parts of an answer for whose rest the window has no room.
func (l *loop) leftCut() {
	l.text += "\n\n" + cutMark
	l.emit(hermes.TextDelta{Text: "\n\n" + cutMark})
	l.append(hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: cutMark}}, Finish: hermes.FinishLength, Model: l.Model.ID()})
	l.outcome = hermes.OutcomeDone
}

// errEmpty ends a turn whose model returns an empty answer.
var errEmpty = errors.New("the model returned an empty answer; try again, or choose another model with /model")

// act appends an answer that has calls, runs them, and appends their results.
// If a result stops the tools for this turn, it returns the reason.
func (l *loop) act(ctx context.Context, m hermes.Message) (stopReason string) {
	m.Turn = l.Number
	refused := normalize(&m, l.steps)
	for i, c := range m.Calls {
		if refused[c.ID] == "" {
			m.Calls[i].Arguments = l.Tools.Canonical(c)
		}
	}
	if !l.append(m) {
		return ""
	}
	return l.runCalls(ctx, m.Calls, refused)
}

// runCalls runs calls of the transcript and appends their results.
func (l *loop) runCalls(ctx context.Context, calls []hermes.ToolCall, refused map[string]string) (stopReason string) {
	batch := l.plan(calls, refused)
	l.runBatch(ctx, batch)
	l.finishBatch(ctx, batch)
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

// broken ends a turn whose model call failed or was interrupted.
func (l *loop) broken(ctx context.Context, partial hermes.Message, err error) error {
	if ctx.Err() != nil {
		return l.interrupted(partial.Text())
	}
	if e, ok := errors.AsType[*hermes.ModelError](err); ok && e.Class == hermes.ClassBudget {
		return l.overCap(partial.Text(), e)
	}
	if hermes.ClassOf(err) == hermes.ClassRepetition {
		l.stoppedRepeating(partial)
	}
	return err
}

// stoppedRepeating keeps the answer that was stopped, without most of its
// repetitions: they would lead the model to repeat them again.
func (l *loop) stoppedRepeating(partial hermes.Message) {
	text := joinText(strings.TrimSpace(repetition.Shorten(partial.Text())), repeatedMark)
	l.emit(hermes.Reset{Reason: "it repeated the same text without end"})
	l.emit(hermes.TextDelta{Text: text})
	l.append(hermes.Message{
		Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}, Finish: hermes.FinishRepetition, Model: partial.Model, Usage: partial.Usage,
	})
}

// overCap ends a turn that a spending cap stopped. The cap's text is the
// answer, below the part that had arrived: the turn has not failed and is not
// retried.
func (l *loop) overCap(partial string, e *hermes.ModelError) error {
	l.outcome = hermes.OutcomeBudget
	l.text = joinText(l.text+partial, e.Message)
	shown := e.Message
	if partial != "" {
		shown = "\n\n" + shown
	}
	l.emit(hermes.TextDelta{Text: shown}) // frontends show it as the answer
	m := hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: joinText(partial, "["+e.Message+"]")}}, Synthetic: true}
	l.append(m)
	return nil
}

// interrupted ends a turn that the user stopped. A partial answer stays in the
// transcript with a mark, so that user and assistant messages alternate.
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
func (l *loop) finish(ctx context.Context, err error) {
	switch {
	case err != nil:
		l.outcome = hermes.OutcomeFailed
	case l.outcome == "":
		l.outcome = hermes.OutcomeInterrupted
	}
	l.end(context.WithoutCancel(ctx))
	marks := l.confirm(ctx)
	if l.stopped {
		return
	}
	l.yield(hermes.TurnDone{
		Turn: l.Number, Outcome: l.outcome, Text: l.text, Steps: l.steps,
		Usage: l.usage, Duration: l.Now().Sub(l.began), Failure: hermes.FailureOf(err), Unconfirmed: marks,
	}, err)
}

// confirm tells the user which claims of the answer nothing supports.
func (l *loop) confirm(ctx context.Context) []hermes.Unconfirmed {
	if l.Confirm == nil || l.stopped || l.outcome != hermes.OutcomeDone || l.text == "" {
		return nil
	}
	marks := l.Confirm(ctx, l.text, l.Transcript)
	for _, m := range marks {
		l.notice(hermes.NoticeWarning, fmt.Sprintf("unconfirmed: %q (%s)", m.Quote, m.Why))
	}
	return marks
}

// append adds a message to the transcript. It returns false if the consumer
// stopped; the turn then ends, because nothing may be done that is not stored.
func (l *loop) append(m hermes.Message) bool {
	m.Turn = l.Number
	m.Time = l.Now()
	l.Transcript = append(l.Transcript, m)
	return l.emit(hermes.Appended{Message: m})
}

// emit yields an event. It returns false if the consumer has stopped.
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
