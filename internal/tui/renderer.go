package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
)

// renderer turns the events of a session into lines that are printed once. It
// keeps what is unfinished: the end of the answer and the running calls.
type renderer struct {
	theme
	width int
	now   func() time.Time

	answer    *markup.Stream
	thinking  *markup.Stream
	received  strings.Builder // the text of the current step, as received
	rest      string          // the end of it that was not streamed
	printed   bool            // some of it is in the scrollback
	lastText  string          // the last shown answer of the turn
	noted     string          // what was said about a compaction of the turn
	calls     []running
	lastCall  string // the tool of the last call line
	writing   hermes.CallDeltaSeen
	model     string
	streamed  int // bytes of this step, for an estimate
	usage     hermes.Usage
	last      hermes.Usage // of the last step: how full the window is
	thought   bool         // the model is thinking
	needBlank bool         // the next paragraph needs a blank line before it

	out []string
}

func newRenderer(d Display, width int, now func() time.Time) *renderer {
	if now == nil {
		now = time.Now
	}
	return &renderer{theme: theme{d}, width: width, now: now}
}

// take returns the lines to print and forgets them.
func (t *renderer) take() []string {
	out := t.out
	t.out = nil
	return out
}

func (t *renderer) resize(width int) {
	t.width = width
	for _, s := range []*markup.Stream{t.answer, t.thinking} {
		if s != nil {
			s.Resize(min(width, maxProse))
		}
	}
}

// say prints lines as their own paragraph.
func (t *renderer) say(lines ...string) {
	if len(lines) == 0 {
		return
	}
	if t.needBlank {
		t.out = append(t.out, "")
	}
	t.out = append(t.out, lines...)
	t.needBlank = true
	t.lastCall = ""
}

// line prints lines that may follow lines of the same kind without a blank
// line.
func (t *renderer) line(kind string, lines ...string) {
	if t.needBlank && (t.lastCall == "" || kind == "") {
		t.out = append(t.out, "")
	}
	t.out = append(t.out, lines...)
	t.needBlank = true
	t.lastCall = kind
}

// event handles one event.
func (t *renderer) event(e hermes.Event) {
	t.release(e)
	switch e := e.(type) {
	case hermes.TurnStarted:
		t.turnStarted(e)
	case hermes.StepStarted:
		t.flush()
		t.model = e.Model
		t.streamed, t.thought = 0, false
		t.writing = hermes.CallDeltaSeen{}
	case hermes.TextDelta:
		t.text(e.Text)
	case hermes.ReasoningDelta:
		t.reasoning(e.Text)
	case hermes.CallDeltaSeen:
		t.writing = e
	case hermes.Reset:
		t.reset(e.Reason)
	case hermes.Notice:
		t.notice(e)
	case hermes.Compacted:
		t.compacted(e)
	case hermes.Appended:
		t.appended(e.Message)
	case hermes.CallStarted:
		t.flush()
		t.writing = hermes.CallDeltaSeen{}
		t.calls = append(t.calls, running{call: e.Call, preview: e.Preview, since: t.now()})
	case hermes.CallProgress:
		for i := range t.calls {
			if t.calls[i].call.ID == e.CallID {
				t.calls[i].progress = e.Text
			}
		}
	case hermes.CallDone:
		t.callDone(e)
	case hermes.UsageUpdated:
		t.usage, t.last, t.model = e.Turn, e.Step, e.Model
		t.streamed = 0
	case hermes.Steered:
		t.flush()
		t.say(t.prefixed("↳ ", "  ", e.Text)...)
	case hermes.TurnDone:
		t.turnDone(e)
	}
}

// text takes visible text of the answer.
func (t *renderer) text(piece string) {
	t.endThinking()
	t.streamed += len(piece)
	if t.answer == nil {
		if strings.TrimSpace(piece) == "" && t.received.Len() == 0 {
			return
		}
		t.answer = markup.NewStream(t.prose(t.width))
	}
	t.received.WriteString(piece)
	t.printProse(t.answer.Write(piece))
}

func (t *renderer) printProse(lines []string) {
	if len(lines) == 0 {
		return
	}
	if !t.printed {
		t.printed = true
		t.say(lines...)
		return
	}
	t.out = append(t.out, lines...)
}

func (t *renderer) reasoning(piece string) {
	t.thought = true
	t.streamed += len(piece)
	if !t.d.Reasoning {
		return
	}
	if t.thinking == nil {
		if strings.TrimSpace(piece) == "" {
			return
		}
		o := t.prose(t.width)
		o.Style = markup.Style{Attr: markup.Dim | markup.Italic}
		t.thinking = markup.NewStream(o)
		if t.needBlank {
			t.out = append(t.out, "")
			t.needBlank = false
		}
	}
	t.out = append(t.out, t.thinking.Write(piece)...)
}

func (t *renderer) endThinking() {
	if t.thinking != nil {
		t.out = append(t.out, t.thinking.Close()...)
		t.thinking = nil
		t.needBlank = true
		t.lastCall = ""
	}
	t.thought = false
}

// flush prints the rest of the current step's text.
func (t *renderer) flush() {
	t.endThinking()
	if t.answer != nil {
		t.printProse(t.answer.Close())
		t.answer = nil
		t.lastText = t.received.String()
	}
	t.received.Reset()
	t.printed = false
}

// reset drops the text of the step. What was printed stays in the scrollback,
// so a line says that the answer starts again.
func (t *renderer) reset(reason string) {
	printed := t.printed
	t.answer, t.thinking = nil, nil
	t.received.Reset()
	t.printed, t.thought = false, false
	t.writing = hermes.CallDeltaSeen{}
	t.streamed = 0
	if printed {
		t.say(t.faint(markup.Clip("The answer starts again: "+cmp.Or(oneLine(reason), "the connection was lost"), t.width)))
	}
}

// appended prints what the stream may have lost, since the stored message has
// the whole text.
func (t *renderer) appended(m hermes.Message) {
	if m.Role != hermes.RoleAssistant {
		return
	}
	full, got := m.Visible(), t.received.String()
	switch {
	case strings.TrimSpace(full) == strings.TrimSpace(got):
	case strings.HasPrefix(full, got):
		t.rest = full[len(got):]
		return
	case strings.TrimSpace(full) != "":
		t.reset("part of it did not reach the screen")
		t.text(full)
	}
	t.flush()
}

// release prints the part of the stored message that was not streamed. What an
// interruption added is for the model and not for the user.
func (t *renderer) release(next hermes.Event) {
	if t.rest == "" {
		return
	}
	rest := t.rest
	t.rest = ""
	if !interrupts(next) {
		t.text(rest)
	}
	t.flush()
}

func interrupts(e hermes.Event) bool {
	done, ok := e.(hermes.TurnDone)
	return ok && done.Outcome == hermes.OutcomeInterrupted
}

func (t *renderer) callDone(e hermes.CallDone) {
	t.flush()
	t.calls = slices.DeleteFunc(t.calls, func(r running) bool { return r.call.ID == e.Call.ID })
	switch t.d.Calls {
	case CallsOff:
		return
	case CallsNew:
		if t.lastCall == e.Call.Name && !e.Failed {
			return
		}
	}
	lines := t.doneLines(e, t.width)
	t.line(e.Call.Name, lines...)
	if len(lines) > 1 {
		t.lastCall = "" // a blank line follows the shown part of the result
	}
}

// tail is the unfinished end of the model's text.
func (t *renderer) tail() []string {
	var lines []string
	switch {
	case t.answer != nil:
		lines = t.answer.Tail()
		if !t.printed && t.needBlank && len(lines) > 0 {
			lines = append([]string{""}, lines...)
		}
	case t.thinking != nil:
		lines = t.thinking.Tail()
	}
	return lines
}
