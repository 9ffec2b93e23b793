package tui

import (
	"slices"
	"strings"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/session"
)

// send gives the session what was written, or runs it as a command.
func (m *model) send() []any {
	text := strings.TrimSpace(m.input.value())
	if text == "" {
		return nil
	}
	m.input = newEditor()
	m.menu.close()
	m.burst = m.now().Sub(m.sent) < settle
	m.sent = m.now()
	if err := m.past.add(text); err != nil {
		m.hint = "the history could not be written: " + err.Error()
	}
	if name, args, ok := command.Split(text); ok {
		switch c, _ := command.Find(name, command.Terminal); {
		case c.Name == "queue" && m.busy && args != "":
			m.waiting = append(m.waiting, args)
		case c.Name != "steer" || !m.busy: // what is steered is shown when it is taken
			m.say(m.faint(markup.Clip("› "+oneLine(text), m.width)))
		}
		return m.later(commandDo{line: text, confirmed: m.trusted})
	}
	return m.speak(text)
}

// speak sends a message as it is.
func (m *model) speak(text string) []any {
	m.waiting = append(m.waiting, text)
	return m.later(submitDo{session.Say{Parts: []hermes.Part{{Text: text}}}})
}

// later does a thing now, or when the session is there. Leaving needs none.
func (m *model) later(do any) []any {
	if c, ok := do.(commandDo); ok && !m.opened {
		if name, _, _ := command.Split(c.line); name == "quit" || name == "exit" {
			return []any{quitDo{}}
		}
	}
	if m.opened {
		return []any{do}
	}
	m.early = append(m.early, do)
	return nil
}

// submitted tells the person what the session could not take, and gives back
// the words: not among lines that a terminal pastes as if they were typed.
// Those are in the history.
func (m *model) submitted(msg submittedMsg) {
	if msg.err == nil {
		return
	}
	if say, ok := msg.op.(session.Say); ok && len(say.Parts) > 0 {
		text := hermes.Message{Parts: say.Parts}.Visible()
		m.begun(text)
		if m.input.empty() && !m.burst {
			m.input.set(text)
		}
	}
	m.complain(msg.err)
}

// begun takes a message off those that wait. What was attached to it may stand
// below what was written.
func (m *model) begun(text string) {
	if i := slices.IndexFunc(m.waiting, func(w string) bool { return w == text || strings.HasPrefix(text, w+"\n") }); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

// complain says an error, once for many things that end with it in a row.
func (m *model) complain(err error) {
	text, last := err.Error(), m.complained
	m.complained = m.now()
	if text == m.complaint && m.complained.Sub(last) < complaintTime {
		return
	}
	m.complaint = text
	m.say(m.errorLines(text)...)
}

// complaintTime is how long the same error must be away to be said again.
const complaintTime = 2 * time.Second
