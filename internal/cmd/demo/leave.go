package demo

import (
	"context"
	"fmt"

	"hermes"
	"hermes/internal/demo"
	"hermes/internal/session"
	"hermes/internal/tui"
)

// answer answers in the place of the person what the agent asks, and says so:
// what stays after a session that has read files needs their leave.
type answer struct {
	tui.Printer
	runner  runner
	session *session.Session
	ctx     context.Context // of the one turn that it listens to
	asked   int
	err     error
}

// Event shows an event and answers a question.
func (l *answer) Event(e hermes.Event) {
	l.Printer.Event(e)
	a, ok := e.(hermes.Asked)
	if !ok || a.Approval == nil {
		return
	}
	reply := session.Reply{ID: a.ID, Decision: hermes.Deny}
	if demo.Expected(a.Approval.Tool) {
		reply.Decision = hermes.AllowOnce
	}
	l.tell(a.Approval.Tool, reply.Decision)
	if err := l.session.Submit(l.ctx, reply); err != nil && l.err == nil {
		l.err = fmt.Errorf("answer a question of the agent: %w", err)
	}
}

func (l *answer) tell(tool string, c hermes.Decision) {
	answer := "yes"
	if !c.Allowed() {
		answer = "no"
	}
	if l.asked++; l.asked == 1 {
		fmt.Fprint(l.runner.o.Out, l.runner.o.Demo.Leave(tool, answer))
		return
	}
	fmt.Fprintf(l.runner.o.Out, "▌ May %s, too? The demo says %s.\n", tool, answer)
}

// Err is the first error of writing or of answering.
func (l *answer) Err() error {
	if err := l.Printer.Err(); err != nil {
		return err
	}
	return l.err
}
