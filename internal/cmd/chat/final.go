package chat

import (
	"fmt"
	"io"

	"hermes/internal/cmd/factory"

	"hermes"
	"hermes/internal/tui"
)

// final prints only the final text, or nothing if the answer has a form of its own. Warnings go to
// standard error; if that is a terminal, so does what the run waits for.
func (o *Options) final() tui.Printer {
	p := tui.NewFinalPrinter(o.Out, factory.IsTerminal(o.Out))
	if o.Output.formed() {
		p = tui.NewFinalPrinter(io.Discard, false)
	}
	return noting{p, o.Err, factory.IsTerminal(o.Err)}
}

// noting is a printer that also prints warnings to notes, and what the run waits
// for if waiting is set.
type noting struct {
	tui.Printer
	notes   io.Writer
	waiting bool
}

// Event takes the events of a turn in order.
func (w noting) Event(e hermes.Event) {
	if n, ok := e.(hermes.Notice); ok && (n.Level == hermes.NoticeWarning || n.Level == hermes.NoticeWaiting && w.waiting) {
		fmt.Fprintln(w.notes, "hermes:", n.Text)
	}
	w.Printer.Event(e)
}
