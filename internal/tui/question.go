package tui

import (
	"slices"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/session"
)

func (m *model) asked(e hermes.Asked) []any {
	a := newAsk(e, m.now())
	m.flush()
	m.say(a.lines(m.theme, m.width)...)
	m.asks = append(m.asks, a)
	m.menu.close()
	m.find = nil
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
		m.stash()
	}
}

// stash keeps the unsent text and empties the input for an answer.
func (m *model) stash() {
	if m.draft == nil {
		draft := m.input
		m.draft = &draft
		m.input = newEditor()
	}
}

// answerText is what is typed as the answer to the question, not the draft.
func (m *model) answerText() string {
	if m.draft == nil {
		return ""
	}
	return m.input.value()
}

func (m *model) unstash() {
	if m.draft != nil {
		m.input, m.draft = *m.draft, nil
	}
}

// answered closes a question, no matter which frontend answered it.
func (m *model) answered(id string) {
	i := slices.IndexFunc(m.asks, func(a *ask) bool { return a.id == id && a.confirm == "" })
	if i < 0 {
		return
	}
	m.asks = slices.Delete(m.asks, i, i+1)
	if i == 0 {
		m.gone = m.now()
		m.unstash()
		m.present()
	}
}

// resolve answers the question that is shown and records the answer.
func (m *model) resolve(reply session.Reply, words string) []any {
	m.asks = m.asks[1:]
	m.unstash()
	m.say(m.faint(markup.Clip("  "+words, m.width)))
	m.present()
	return []any{submitDo{reply}}
}
