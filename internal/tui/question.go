package tui

import (
	"slices"

	"hermes"
	"hermes/internal/markup"
)

func (m *model) asked(e hermes.Asked) []any {
	a := newAsk(e, m.now())
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
func (m *model) answered(id string) {
	i := slices.IndexFunc(m.asks, func(a *ask) bool { return a.id == id && a.confirm == "" })
	if i < 0 {
		return
	}
	m.asks = slices.Delete(m.asks, i, i+1)
	if i == 0 {
		m.gone = m.now()
		m.input.Unstash()
		m.present()
	}
}

// resolve answers the question that is shown and records the answer.
func (m *model) resolve(reply hermes.Reply, words string) []any {
	m.say(m.Faint(markup.Clip("  "+words, m.width)))
	m.closeAsk()
	return []any{submitDo{reply}}
}

// closeAsk closes the question that is shown.
func (m *model) closeAsk() {
	m.asks = m.asks[1:]
	m.input.Unstash()
	m.present()
}
