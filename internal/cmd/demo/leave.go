package demo

import (
	"context"
	"fmt"

	"hermes"
	"hermes/internal/demo"
	"hermes/internal/session"
	"hermes/internal/tui"
)

// leave answers in the place of the person what the agent asks, and says so:
// what stays after a session that has read files needs their leave.
type leave struct {
	tui.Printer
	runner  runner
	session *session.Session
	ctx     context.Context // of the one turn that it listens to
	asked   int
	err     error
}

// Event shows an event and answers a question.
func (l *leave) Event(e hermes.Event) {
	l.Printer.Event(e)
	a, ok := e.(hermes.Asked)
	if !ok || a.Approval == nil {
		return
	}
	reply := session.Reply{ID: a.ID, Consent: hermes.ConsentDenied}
	if demo.Expected(a.Approval.Tool) {
		reply.Consent = hermes.ConsentOnce
	}
	l.tell(a.Approval.Tool, reply.Consent)
	if err := l.session.Submit(l.ctx, reply); err != nil && l.err == nil {
		l.err = fmt.Errorf("answer a question of the agent: %w", err)
	}
}

func (l *leave) tell(tool string, c hermes.Consent) {
	answer := "yes"
	if !c.Granted() {
		answer = "no"
	}
	if l.asked++; l.asked == 1 {
		fmt.Fprint(l.runner.o.Out, l.runner.o.Demo.Leave(tool, answer))
		return
	}
	fmt.Fprintf(l.runner.o.Out, "▌ May %s, too? The demo says %s.\n", tool, answer)
}

// Err is the first error of writing or of answering.
func (l *leave) Err() error {
	if err := l.Printer.Err(); err != nil {
		return err
	}
	return l.err
}
