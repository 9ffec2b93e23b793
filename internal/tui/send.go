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

// send sends the input as a message, or runs it as a command.
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
		m.hint = "History not saved: " + err.Error()
	}
	if name, args, ok := command.Split(text); ok {
		switch c, _ := command.Find(name, command.Terminal); {
		case c.Name == "queue" && m.busy && args != "":
			m.waiting = append(m.waiting, args)
		case c.Name != "steer" || !m.busy: // steering text is shown when the turn takes it
			m.say(m.faint(markup.Clip("› "+oneLine(text), m.width)))
		}
		return m.later(commandDo{line: text, confirmed: m.trusted})
	}
	return m.speak(text)
}

// speak sends a text as a message, never as a command.
func (m *model) speak(text string) []any {
	m.waiting = append(m.waiting, text)
	return m.later(submitDo{session.Say{Parts: []hermes.Part{{Text: text}}}})
}

// later returns an action now, or keeps it until the session is open. Quitting
// needs no session.
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

// submitted shows why the session could not take an op, and puts the text back
// into the input. It does not do so for lines that a terminal pastes as if they
// were typed; those are in the history.
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

// begun removes a message from those that wait. Attached text may follow the
// text of the user.
func (m *model) begun(text string) {
	if i := slices.IndexFunc(m.waiting, func(w string) bool { return w == text || strings.HasPrefix(text, w+"\n") }); i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

// complain shows an error, but a repeated error only once.
func (m *model) complain(err error) {
	text, last := err.Error(), m.complained
	m.complained = m.now()
	if text == m.complaint && m.complained.Sub(last) < complaintTime {
		return
	}
	m.complaint = text
	m.say(m.errorLines(text)...)
}

// complaintTime is how long the same error must be absent to be shown again.
const complaintTime = 2 * time.Second
