package tui

import (
	"slices"
	"strings"

	"hermes"
	"hermes/internal/markup"
)

// asked shows a question of the session, or of a child session.
func (m *model) asked(e hermes.Asked, child string) []any {
	a := newAsk(e, m.now())
	if a.session = child; child != "" {
		a.origin = "A child session asks"
		if goal := m.conv.children[child]; goal != "" {
			a.origin += ": " + markup.OneLine(goal)
		}
	}
	m.flush()
	m.say(a.lines(m.theme, m.width)...)
	m.asks = append(m.asks, a)
	m.input.Close()
	if a == m.ask() {
		m.present()
	}
	if m.d.BellAsk {
		return []any{bellDo{}}
	}
	return nil
}

// present prepares the input for the question that is shown now.
func (m *model) present() {
	a := m.ask()
	if a == nil {
		return
	}
	a.shown = m.now()
	if a.typing {
		m.input.Stash()
	}
}

// answered closes a question, no matter which frontend answered it.
func (m *model) answered(e hermes.AnswerTaken, child string) {
	i := slices.IndexFunc(m.asks, func(a *ask) bool { return a.id == e.ID && a.session == child && a.confirm == "" })
	if i < 0 {
		return
	}
	if e.Answered && m.ofOther(e.By) {
		m.say(m.Faint(markup.Clip("  answered by "+markup.OneLine(e.By.String()), m.width)))
	}
	a := m.asks[i]
	m.asks = slices.Delete(m.asks, i, i+1)
	if i == 0 {
		m.gone = m.now()
		m.keepTyped(a)
		m.present()
	}
}

// keepTyped keeps what was typed at a question that closes without an answer from here. The next Enter
// does not send it: it was not meant as a message.
func (m *model) keepTyped(a *ask) {
	typed := m.input.Answer()
	switch {
	case a.chooses():
		typed = a.reason(typed)
	case a.question.Secret:
		typed = ""
	}
	m.input.Unstash()
	if typed = strings.TrimSpace(typed); typed != "" {
		m.input.Before(typed)
		m.unsent = true
	}
}

// resolve answers the question that is shown and records the answer.
func (m *model) resolve(reply hermes.Reply, words string) []any {
	m.say(m.Faint(markup.Clip("  "+words, m.width)))
	to := m.ask().session
	m.closeAsk()
	return []any{submitDo{reply, to}}
}

// closeAsk closes the question that is shown.
func (m *model) closeAsk() {
	m.asks = m.asks[1:]
	m.input.Unstash()
	m.present()
}
