package chat

import (
	"fmt"
	"io"

	"hermes"
	"hermes/internal/tui"
)

// final prints only the final text. If standard error is a terminal, it also
// shows there what the run waits for.
func (o *Options) final() tui.Printer {
	p := tui.NewFinalPrinter(o.IO.Out)
	if !terminal(o.IO.Err) {
		return p
	}
	return waiting{p, o.IO.Err}
}

// waiting is a printer that also prints waiting notices to notes.
type waiting struct {
	tui.Printer
	notes io.Writer
}

// Event takes the events of a turn in order.
func (w waiting) Event(e hermes.Event) {
	if n, ok := e.(hermes.Notice); ok && n.Level == hermes.NoticeWaiting {
		fmt.Fprintln(w.notes, "hermes:", n.Text)
	}
	w.Printer.Event(e)
}
