package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// Texts of the loop for the model. [Interrupted] looks for interruptedMark in
// stored transcripts, and for interruptedMark1, the wording of version 0.1.0.
const (
	interruptedMark  = "[The user interrupted this turn here.]"
	interruptedMark1 = "[The person interrupted this turn here.]"

	notRun       = "interrupted by the user before this ran"
	continueText = "[The output limit cut your answer. Continue exactly where it stopped, without repeating anything.]"
	limitText    = "[The step limit of this turn is reached; tools are off. Answer the user now: what was done, what was found, what remains.]"
	summaryText  = "[Tools are off. Summarize in words what you did in this turn, what you found, and what remains to be done.]"
	stopText     = "[Tools are off for the rest of this turn: %s. Answer the user now: what you tried, what blocks you, what they could do.]"
	cutMark      = "[This answer is not complete: the output limit cut it off. Say \"go on\" to continue.]"
	filterMark   = "[This answer is not complete: the service's content filter cut it off.]"
	repeatedMark = "[This answer was stopped because it repeated the same text without end.]"
	thoughtAloud = "the text so far was the model's thinking" // for the user
	limitNotRun  = "not run: tools are off for the rest of this turn"
)

// Interrupted reports whether a message ends a turn that the user stopped.
func Interrupted(m hermes.Message) bool {
	text := m.Text()
	return strings.HasSuffix(text, interruptedMark) || strings.HasSuffix(text, interruptedMark1)
}

func steerText(note string) string {
	return "[A note from the user, sent while you worked; take it into account from now on:]\n" + note
}

func synthetic(text string) hermes.Message {
	m := hermes.UserText(text)
	m.Synthetic = true
	return m
}

// incomplete returns the mark for the end of an answer that was cut, or "".
func incomplete(f hermes.Finish) string {
	switch f {
	case hermes.FinishLength:
		return cutMark
	case hermes.FinishFilter:
		return filterMark
	}
	return ""
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// wrapping says how to end a turn with a summary and no more tools.
type wrapping struct {
	outcome hermes.Outcome
	notice  string // for the user
	ask     string // for the model
	empty   error  // if the model gives no summary
}

func usedUp() wrapping {
	return wrapping{hermes.OutcomeBudget, "Step limit reached. Asking the model for a summary.", limitText, errNoSummary}
}

func toolsStopped(why string) wrapping {
	return wrapping{hermes.OutcomeToolsStopped, "Tools stopped (" + why + "). Asking the model for a summary.", fmt.Sprintf(stopText, why), errStopped}
}

// wrapUp ends a turn that may use no more tools: it sends one notice and one
// model call with tools off. If the model still calls tools, it asks once more
// for a summary.
func (l *loop) wrapUp(ctx context.Context, w wrapping) error {
	l.outcome = w.outcome
	l.notice(hermes.NoticeWarning, w.notice)
	l.append(synthetic(w.ask))
	m, err := l.ask(ctx, true)
	if err == nil && len(m.Calls) > 0 {
		l.refuseAll(m)
		l.append(synthetic(summaryText))
		m, err = l.ask(ctx, true)
		m.Calls = nil
	}
	if err != nil {
		return l.broken(ctx, m, err)
	}
	if m.Text() == "" {
		return w.empty
	}
	l.answered(m)
	return nil
}

var errStopped = errors.New("tools stopped and the model gave no summary; look at the history, then say what to try instead")

var errNoSummary = errors.New("the step limit of the turn is reached and the model gave no summary; say \"go on\" to continue, or raise agent.max_turns")

// refuseAll appends results for calls that came although tools were off.
func (l *loop) refuseAll(m hermes.Message) {
	m.Turn = l.Number
	normalize(&m, l.steps)
	l.append(m)
	for _, tc := range m.Calls {
		c := &call{sent: tc, result: hermes.ErrorResult(limitNotRun)}
		l.append(c.message())
	}
}
