package tui

import (
	"errors"
	"time"

	"hermes"
	"hermes/internal/command"
	"hermes/internal/markup"
	"hermes/internal/protocol"
)

// send sends the input as a message, or runs it as a command.
func (m *model) send() []any {
	text := m.input.Send(m.now())
	if text == "" {
		return nil
	}
	name, args, ok := command.Split(text)
	if !ok {
		return m.speak(text)
	}
	switch c, _ := command.Find(name, command.Terminal); {
	case c.Name == "queue" && m.turn.busy && args != "":
		m.conv.wait(sent{text: args})
	case c.Name != "steer" || !m.turn.busy: // steering text is shown when the turn takes it
		m.say(m.Faint(markup.Clip("› "+markup.OneLine(text), m.width)))
	}
	return m.run(text)
}

// run runs a line as a command. The process of the session does, except for what must work
// without it.
func (m *model) run(line string) []any {
	if m.conv.opened && !m.conv.closed && !m.conv.lost {
		return m.conv.later(commandDo{line})
	}
	_, args, _ := command.Split(line)
	switch {
	case runs(line, "quit"):
		return []any{quitDo{}}
	case m.conv.closed && runs(line, "new"):
		return m.newSession(args)
	case m.conv.closed && runs(line, "clear"):
		return append([]any{clearDo{}}, m.newSession("")...)
	case m.conv.closed && runs(line, "resume") && args != "":
		return []any{openDo{want{resume: args}}}
	}
	return m.conv.later(commandDo{line})
}

// speak sends a text as a message, never as a command.
func (m *model) speak(text string) []any {
	return m.submit([]hermes.Part{{Text: text}})
}

// submit sends a message.
func (m *model) submit(parts []hermes.Part) []any {
	s := sent{text: hermes.Message{Parts: parts}.Visible(), say: hermes.Say{Parts: parts, Key: m.newKey()}}
	if m.conv.lost {
		s.state = unsent
		m.conv.wait(s)
		return nil
	}
	if m.conv.foreign {
		s.since = m.now()
	}
	m.conv.wait(s)
	return m.conv.later(submitDo{op: s.say})
}

// submitted shows why the session could not take an op, and puts the text back
// into the input.
func (m *model) submitted(msg submittedMsg) []any {
	m.conv.taken(submitDo{op: msg.op})
	stopped := m.turn.stopping && !m.turn.busy // no turn began, so none ends
	if _, ok := msg.op.(hermes.Stop); ok && stopped {
		m.turn.end()
		m.input.Before(m.conv.takeBack())
	}
	if _, touch := msg.op.(hermes.Touch); touch || msg.err == nil {
		if say, ok := msg.op.(hermes.Say); ok {
			m.conv.accept(say.Key)
		}
		return nil // that a question is closed is an event
	}
	if say, ok := msg.op.(hermes.Say); ok && unreached(msg.err) && !m.conv.closed {
		return m.unanswered(say.Key, msg.at)
	}
	stopped = stopped && errors.Is(msg.err, hermes.ErrInterrupted) // the text comes back when the stop is done
	if say, ok := msg.op.(hermes.Say); ok && len(say.Parts) > 0 && !stopped {
		text := hermes.Message{Parts: say.Parts}.Visible()
		m.conv.begun(text)
		m.input.Restore(text)
	}
	m.complain(msg.err)
	return nil
}

// unreached reports whether a message may have been taken, or not: the connection was lost, or the
// session was closed, before it answered.
func unreached(err error) bool {
	return errors.Is(err, protocol.ErrConnection) || errors.Is(err, hermes.ErrClosed)
}

// complain shows an error, but a repeated error only once.
func (m *model) complain(err error) {
	switch text := err.Error(); {
	case m.complaint.repeats(text, m.now()):
	case errors.Is(err, hermes.ErrInterrupted):
		m.say(m.Warn("interrupted"))
	default:
		m.say(m.errorLines(text)...)
	}
}

// complaintTime is how long the same error must be absent to be shown again.
const complaintTime = 2 * time.Second

// complaint is the last error that was shown.
type complaint struct {
	text string
	at   time.Time
}

// repeats reports whether an error was just shown, and keeps it.
func (c *complaint) repeats(text string, now time.Time) bool {
	same := text == c.text && now.Sub(c.at) < complaintTime
	c.text, c.at = text, now
	return same
}
