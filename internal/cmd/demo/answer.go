package demo

import (
	"context"
	"fmt"

	"hermes"
	"hermes/internal/demo"
	"hermes/internal/protocol"
	"hermes/internal/tui"
)

// answer answers the agent's approval questions for the user, and shows the
// answers. Changes that are kept for later sessions need an approval, since the
// session has read files.
type answer struct {
	tui.Printer
	runner runner
	client protocol.Client
	id     string          // of the session
	ctx    context.Context // of the turn
	asked  int
	err    error
}

// Event shows an event and answers a question.
func (l *answer) Event(e hermes.Event) {
	l.Printer.Event(e)
	a, ok := e.(hermes.Asked)
	if !ok || a.Approval == nil {
		return
	}
	reply := hermes.Reply{ID: a.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}
	if demo.Expected(a.Approval.Tool) {
		reply.Approval.Decision = hermes.AllowOnce
	}
	word := "no"
	if reply.Approval.Decision.Allowed() {
		word = "yes"
	}
	if l.asked++; l.asked == 1 {
		fmt.Fprint(l.runner.out, l.runner.demo.Answer(a.Approval.Tool, word))
	} else {
		fmt.Fprintf(l.runner.out, "▌ Allow %s to make this change? The demo answers: %s.\n", a.Approval.Tool, word)
	}
	if err := l.client.Do(l.ctx, l.id, audience, reply); err != nil && l.err == nil {
		l.err = fmt.Errorf("answer a question of the agent: %w", err)
	}
}

// Err is the first error of writing or of answering.
func (l *answer) Err() error {
	if err := l.Printer.Err(); err != nil {
		return err
	}
	return l.err
}
