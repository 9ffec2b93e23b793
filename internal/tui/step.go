package tui

import (
	"cmp"
	"strings"

	"hermes"
	"hermes/internal/markup"
)

// step is the text of the model's current step, as far as it has come.
type step struct {
	answer   *markup.Stream       // nil before its first word
	thinking *markup.Stream       // nil if the model does not think, or if that is not shown
	received strings.Builder      // the text of the answer, as received
	rest     string               // the end of it that was not streamed
	printed  bool                 // some of it is in the scrollback
	thought  bool                 // the model is thinking
	streamed int                  // bytes, for an estimate of the tokens
	writing  hermes.CallDeltaSeen // the call that the model writes
}

func (s *step) resize(width int) {
	for _, stream := range []*markup.Stream{s.answer, s.thinking} {
		if stream != nil {
			stream.Resize(width)
		}
	}
}

// text takes visible text of the answer and returns the lines that are finished.
func (s *step) text(piece string, o markup.Options) []string {
	s.streamed += len(piece)
	if s.answer == nil {
		if strings.TrimSpace(piece) == "" && s.received.Len() == 0 {
			return nil
		}
		s.answer = markup.NewStream(o)
	}
	s.received.WriteString(piece)
	return s.answer.Write(piece)
}

// missing compares the stored message with what was received. It returns the
// end that was not streamed. If the texts differ, whole is the stored one.
func (s *step) missing(full string) (rest, whole string) {
	got := s.received.String()
	switch {
	case strings.TrimSpace(full) == strings.TrimSpace(got):
		return "", ""
	case strings.HasPrefix(full, got):
		return full[len(got):], ""
	}
	return "", strings.TrimSpace(full)
}

// tail is the unfinished end of the text.
func (s *step) tail() []string {
	switch {
	case s.answer != nil:
		return s.answer.Tail()
	case s.thinking != nil:
		return s.thinking.Tail()
	}
	return nil
}

// text prints visible text of the answer.
func (t *renderer) text(piece string) {
	t.endThinking()
	t.printProse(t.step.text(piece, t.prose(t.width)))
}

func (t *renderer) printProse(lines []string) {
	switch {
	case len(lines) == 0:
	case t.step.printed:
		t.more(lines)
	default:
		t.step.printed = true
		t.say(lines...)
	}
}

// reasoning prints what the model thinks, if that is shown.
func (t *renderer) reasoning(piece string) {
	s := &t.step
	s.thought = true
	s.streamed += len(piece)
	if !t.d.Reasoning {
		return
	}
	if s.thinking == nil {
		if strings.TrimSpace(piece) == "" {
			return
		}
		o := t.prose(t.width)
		o.Style = markup.Style{Attr: markup.Dim | markup.Italic}
		s.thinking = markup.NewStream(o)
		t.blank()
	}
	t.more(s.thinking.Write(piece))
}

func (t *renderer) endThinking() {
	if s := &t.step; s.thinking != nil {
		t.more(s.thinking.Close())
		s.thinking = nil
		t.needBlank = true
		t.lastCall = ""
	}
	t.step.thought = false
}

// flush prints the rest of the current step's text.
func (t *renderer) flush() {
	t.endThinking()
	s := &t.step
	if s.answer != nil {
		t.printProse(s.answer.Close())
		s.answer = nil
		t.lastText = s.received.String()
	}
	s.received.Reset()
	s.printed = false
}

// finish prints the text of the model as far as it has come, since no event will follow.
func (t *renderer) finish() {
	t.release(nil)
	t.flush()
}

// reset drops the text of the step. What was printed stays in the scrollback,
// so a line says that the answer starts again.
func (t *renderer) reset(reason string) {
	printed := t.step.printed
	t.step = step{}
	if printed {
		t.say(t.Faint(markup.Clip("The answer starts again: "+cmp.Or(markup.OneLine(reason), "the connection was lost"), t.width)))
	}
}

// appended prints what the stream may have lost, since the stored message has
// the whole text.
func (t *renderer) appended(m hermes.Message) {
	if m.Role != hermes.RoleAssistant {
		return
	}
	rest, whole := t.step.missing(m.Visible())
	if rest != "" {
		t.step.rest = rest
		return
	}
	if whole != "" {
		t.reset("part of it did not reach the screen")
		t.text(m.Visible())
	}
	t.flush()
}

// release prints the part of the stored message that was not streamed. What an
// interruption added is for the model and not for the user.
func (t *renderer) release(next hermes.Event) {
	rest := t.step.rest
	if rest == "" {
		return
	}
	t.step.rest = ""
	if !interrupts(next) {
		t.text(rest)
	}
	t.flush()
}

func interrupts(e hermes.Event) bool {
	done, ok := e.(hermes.TurnDone)
	return ok && done.Outcome == hermes.OutcomeInterrupted
}

// tail is the unfinished end of the model's text.
func (t *renderer) tail() []string {
	lines := t.step.tail()
	if t.step.answer != nil && !t.step.printed && t.needBlank && len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}
