package tui

import (
	"io"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
)

// Printer writes what happens in one turn, without a live region. It is for a
// single question and for simple terminals.
type Printer interface {
	// Event takes the events of a turn in order.
	Event(e hermes.Event)
	// Err is the first write error, such as a closed pipe.
	Err() error
}

// NewPrinter shows a turn while it runs. On a terminal it renders the answer
// block by block, with a line for each tool call. Otherwise (d.Plain) the
// answer goes to out exactly as the model wrote it, and the rest to notes. A
// now of nil is time.Now.
func NewPrinter(out, notes io.Writer, d Display, width int, now func() time.Time) Printer {
	if d.Plain {
		return &rawPrinter{out: writer{w: out}, notes: writer{w: notes}, renderer: newRenderer(d, 100, now)}
	}
	return &richPrinter{out: writer{w: out}, renderer: newRenderer(d, width-1, now)}
}

// NewFinalPrinter writes the final text of the turn and nothing else. If out is a terminal,
// what it would obey is made visible.
func NewFinalPrinter(out io.Writer, terminal bool) Printer {
	return &finalPrinter{writer{w: out}, terminal}
}

// writer remembers the first error.
type writer struct {
	w   io.Writer
	err error
	mid bool // the last line has not ended
}

func (w *writer) write(text string) {
	if text == "" || w.err != nil {
		return
	}
	_, w.err = io.WriteString(w.w, text)
	w.mid = !strings.HasSuffix(text, "\n")
}

func (w *writer) endLine() {
	if w.mid {
		w.write("\n")
	}
}

// richPrinter renders for a terminal.
type richPrinter struct {
	out      writer
	renderer *renderer
}

func (p *richPrinter) Event(e hermes.Event) {
	switch e := e.(type) {
	case hermes.TurnStarted:
		return // the question is on the command line
	case hermes.TurnDone:
		if e.Outcome == hermes.OutcomeFailed {
			p.renderer.flush()
			break
		}
		p.renderer.event(e)
	default:
		p.renderer.event(e)
	}
	for _, line := range p.renderer.take() {
		p.out.write(line + "\n")
	}
}

func (p *richPrinter) Err() error { return p.out.err }

// rawPrinter writes the text of the model unchanged to out, and everything
// else to notes.
type rawPrinter struct {
	out, notes writer
	renderer   *renderer
	step       strings.Builder
	rest       string // the end of a step's text that was not streamed
	wrote      bool
}

func (p *rawPrinter) Event(e hermes.Event) {
	if rest := p.rest; rest != "" {
		p.rest = ""
		if !interrupts(e) {
			p.text(rest)
		}
		p.endStep()
	}
	switch e := e.(type) {
	case hermes.TextDelta:
		p.text(e.Text)
	case hermes.Reset:
		p.endStep()
		p.note(e)
	case hermes.Appended:
		if m := e.Message; m.Role == hermes.RoleAssistant {
			if rest, ok := strings.CutPrefix(m.Visible(), p.step.String()); ok && rest != "" {
				p.rest = rest
				return
			}
			p.endStep()
		}
	case hermes.CallDone:
		p.renderer.callDone(e)
		p.flushNotes()
	case hermes.Notice, hermes.Compacted:
		p.note(e)
	case hermes.TurnDone:
		p.done(e)
	}
}

func (p *rawPrinter) endStep() {
	p.out.endLine()
	p.step.Reset()
}

func (p *rawPrinter) text(s string) {
	if p.step.Len() == 0 && p.wrote && strings.TrimSpace(s) != "" {
		p.out.write("\n")
	}
	p.step.WriteString(s)
	if strings.TrimSpace(s) != "" {
		p.wrote = true
		p.renderer.lastText = ""
	}
	p.out.write(s)
	p.renderer.step.received.WriteString(s)
}

func (p *rawPrinter) done(e hermes.TurnDone) {
	p.out.endLine()
	said := strings.TrimSpace(p.renderer.step.received.String())
	if text := strings.TrimSpace(e.Text); text != "" && !strings.Contains(said, text) && text != p.renderer.noted && e.Outcome != hermes.OutcomeFailed {
		p.out.write(e.Text)
		p.out.endLine()
	}
	if e.Outcome == hermes.OutcomeInterrupted {
		p.notes.write("interrupted\n")
	}
	p.renderer.step.received.Reset()
	p.renderer.noted = ""
}

func (p *rawPrinter) note(e hermes.Event) {
	switch e := e.(type) {
	case hermes.Notice:
		p.renderer.notice(e)
	case hermes.Compacted:
		p.renderer.compacted(e)
	case hermes.Reset:
		p.renderer.say("The answer starts again: " + markup.OneLine(e.Reason))
	}
	p.flushNotes()
}

func (p *rawPrinter) flushNotes() {
	for _, line := range p.renderer.take() {
		if line != "" {
			p.out.endLine()
			p.notes.write(line + "\n")
		}
	}
}

func (p *rawPrinter) Err() error { return p.out.err }

// finalPrinter prints only the final text.
type finalPrinter struct {
	out      writer
	terminal bool
}

func (p *finalPrinter) Event(e hermes.Event) {
	if done, ok := e.(hermes.TurnDone); ok && done.Outcome != hermes.OutcomeFailed {
		text := done.Text
		if p.terminal {
			text = markup.Visible(text)
		}
		p.out.write(text)
		p.out.endLine()
	}
}

func (p *finalPrinter) Err() error { return p.out.err }
