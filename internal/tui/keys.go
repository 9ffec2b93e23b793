package tui

import (
	"strings"
	"time"

	"hermes/internal/session"
)

// key handles a key press. The open question, search or menu gets it first,
// then the input.
func (m *model) key(k keyMsg) []any {
	last := m.lastKey
	m.lastKey = m.now()
	m.hint = ""
	if k.name != "ctrl+c" {
		m.quitting = false
	}
	switch k.name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return []any{suspendDo{}}
	case "ctrl+l":
		return []any{redrawDo{}}
	}
	gone := m.gone
	m.gone = time.Time{}
	if (k.name == "enter" || k.name == "kpenter") && m.lastKey.Sub(gone) < settle {
		return nil // it was meant for the question
	}
	if a := m.ask(); a != nil {
		a.arm(last, m.now())
		if do, taken := m.askKey(a, k); taken {
			return do
		}
	}
	if m.find != nil && m.searchKey(k) {
		return nil
	}
	if m.menu.open() {
		if do, taken := m.menuKey(k); taken {
			return do
		}
	}
	return m.inputKey(k)
}

// interrupt is Ctrl+C: it stops the turn. Pressed twice it quits.
func (m *model) interrupt() []any {
	now := m.now()
	if m.quitting && now.Before(m.quitBy) {
		return []any{quitDo{}}
	}
	m.menu.close()
	m.find = nil
	if a := m.ask(); a != nil && a.confirm != "" {
		m.asks = m.asks[1:]
		m.unstash()
		m.present()
		return nil
	}
	preparing := m.opened && !m.busy && len(m.waiting) > 0 // a message was sent, and its turn has not begun
	if !m.busy && !preparing && (!m.input.empty() || m.draft != nil) {
		m.input = newEditor()
		return nil
	}
	m.quitting, m.quitBy = true, now.Add(quitTime)
	if preparing { // the text comes back when the session has stopped
		return []any{submitDo{session.Stop{}}}
	}
	if !m.busy {
		return nil
	}
	m.stopping = true
	m.unstash()
	if len(m.waiting) > 0 && m.input.empty() {
		m.input.set(strings.Join(m.waiting, "\n\n"))
	} else if len(m.waiting) > 0 {
		m.input.cur = 0
		m.input.insert(strings.Join(m.waiting, "\n\n") + "\n\n")
	}
	m.waiting = nil
	var do []any
	for _, a := range m.asks {
		if a.approval != nil {
			do = append(do, submitDo{a.denial("")})
		}
	}
	m.asks = nil
	return append(do, submitDo{session.Stop{}})
}

// askKey offers a key to the question. It reports whether the question took
// it; else the input gets it.
func (m *model) askKey(a *ask, k keyMsg) ([]any, bool) {
	switch {
	case a.confirm != "", a.approval != nil && a.armed:
		return m.choose(a, k), true
	case a.approval != nil:
		return nil, false // the user is typing: the keys are not meant for the question
	case a.typing:
		return m.answerKey(a, k)
	case a.armed:
		return m.choiceKey(a, k)
	}
	return nil, true
}

func (m *model) choiceKey(a *ask, k keyMsg) ([]any, bool) {
	switch k.name {
	case "up", "shift+tab":
		a.at = (a.at + len(a.options) - 1) % len(a.options)
	case "down", "tab":
		a.at = (a.at + 1) % len(a.options)
	case "space":
		if a.question.Multiple && a.at < a.other() {
			a.marked[a.at] = !a.marked[a.at]
		}
	case "enter":
		if a.at == a.other() {
			a.typing = true
			m.stash()
			return nil, true
		}
		texts := a.chosen()
		return m.resolve(a.answer(texts...), strings.Join(texts, ", ")), true
	case "esc":
		return m.resolve(a.dismissal(), "skipped"), true
	case "ctrl+d":
		return []any{quitDo{}}, true
	default:
		return m.choiceText(a, k)
	}
	return nil, true
}

// choiceText chooses by number; other text starts a typed answer.
func (m *model) choiceText(a *ask, k keyMsg) ([]any, bool) {
	for i, o := range a.options {
		if k.text != o.key {
			continue
		}
		a.at = i
		if a.question.Multiple && i < a.other() {
			a.marked[i] = !a.marked[i]
			return nil, true
		}
		return m.choiceKey(a, keyMsg{name: "enter"})
	}
	if k.text == "" {
		return nil, true
	}
	a.typing = true
	m.stash()
	return nil, false
}

func (m *model) answerKey(a *ask, k keyMsg) ([]any, bool) {
	switch k.name {
	case "enter":
		text := strings.TrimSpace(m.input.value())
		if text == "" {
			return nil, true
		}
		words := oneLine(text)
		if a.question.Secret {
			words = "••••••"
		}
		return m.resolve(a.answer(text), words), true
	case "esc":
		switch {
		case len(a.options) > 0:
			a.typing = false
			m.unstash()
		case a.armed && m.input.empty():
			return m.resolve(a.dismissal(), "skipped"), true
		}
		return nil, true
	case "ctrl+d":
		if m.input.empty() {
			return []any{quitDo{}}, true
		}
	case "up", "down", "tab", "ctrl+r":
		return nil, true
	}
	return nil, false
}

func (m *model) searchKey(k keyMsg) bool {
	f := m.find
	switch k.name {
	case "ctrl+r":
		f.again(&m.past, f.at)
	case "backspace":
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
		f.again(&m.past, len(m.past.entries))
	case "esc", "ctrl+g":
		m.find = nil
	case "enter", "tab", "right", "left", "up", "down", "home", "end":
		if f.found != "" {
			m.input.set(f.found)
		}
		m.find = nil
	default:
		if k.text == "" {
			m.find = nil
			return false
		}
		f.text += k.text
		f.again(&m.past, len(m.past.entries))
	}
	return true
}

func (f *search) again(h *history, from int) {
	found, at, ok := h.search(f.text, from)
	if ok {
		f.found, f.at = found, at
		return
	}
	if from == len(h.entries) {
		f.found = ""
	}
}

// menuKey moves in the completion menu and accepts an entry.
func (m *model) menuKey(k keyMsg) ([]any, bool) {
	switch k.name {
	case "up":
		m.menu.step(-1)
	case "down":
		m.menu.step(1)
	case "tab":
		m.accept(m.menu.choices[m.menu.at])
	case "shift+tab":
		m.menu.step(-1)
	case "esc":
		m.menu.close()
	case "enter":
		if !m.menu.chosen {
			return nil, false
		}
		c := m.menu.choices[m.menu.at]
		m.accept(c)
		if c.more || !strings.HasPrefix(c.insert, "/") || m.menu.from > 0 {
			return nil, true
		}
		return m.send(), true
	default:
		return nil, false
	}
	return nil, true
}
