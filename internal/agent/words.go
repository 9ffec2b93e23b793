package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"hermes"
)

// What the loop itself says to the model.
const (
	interruptedMark = "[The person interrupted this turn here.]"
	notRun          = "interrupted by the person before this ran"
	continueText    = "[Your answer was cut by the output limit. Go on exactly where it stopped, without repeating anything.]"
	limitText       = "[The step limit of this turn is reached; no more tools can be used. Answer the person now: what was done, what was found, what remains.]"
	summaryText     = "[Tools are off. Summarise in words what you did in this turn, what you found, and what remains to be done.]"
	stopText        = "[Tools are off for the rest of this turn: %s. Answer the person now: what you tried, what stands in the way, what they could do.]"
	limitNotRun     = "not run: tools are off for the rest of this turn"
)

// Interrupted reports that a message ends a turn which the person stopped.
func Interrupted(m hermes.Message) bool { return strings.HasSuffix(m.Text(), interruptedMark) }

func steerText(note string) string {
	return "[A note from the person, given while you worked; take it into account from here on:]\n" + note
}

func synthetic(text string) hermes.Message {
	m := hermes.UserText(text)
	m.Synthetic = true
	return m
}

func joinText(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// wrapping is how a turn is brought to its end in words.
type wrapping struct {
	outcome hermes.Outcome
	notice  string // for the person
	ask     string // what the model is told
	empty   error  // the model said nothing all the same
}

func usedUp() wrapping {
	return wrapping{hermes.OutcomeBudget, "The step limit of this turn is reached; asking for a summary.", limitText, errNoSummary}
}

func toolsStopped(why string) wrapping {
	return wrapping{hermes.OutcomeToolsStopped, "The tools led nowhere (" + why + "); asking for a summary.", fmt.Sprintf(stopText, why), errStopped}
}

// wrapUp ends a turn that may use no more tools: one notice and one call with
// tools off; if the model calls tools all the same, one demand for a summary.
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
	l.text = m.Text()
	if l.text == "" {
		return w.empty
	}
	l.append(m)
	return nil
}

var errStopped = errors.New("the tools led nowhere and the model gave no summary; what was done is in the history: say what to try instead")

var errNoSummary = errors.New("the step limit of the turn is reached and the model gave no summary; what was done is in the history: say \"go on\" to continue, or raise agent.max_turns")

// refuseAll answers calls that came although tools were off.
func (l *loop) refuseAll(m hermes.Message) {
	m.Turn = l.Number
	normalize(&m, l.steps)
	l.append(m)
	for _, tc := range m.Calls {
		c := &call{ToolCall: tc, result: refusal(limitNotRun)}
		l.append(c.message())
	}
}
