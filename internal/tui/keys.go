package tui

import (
	"strings"
	"time"

	"hermes"

	"hermes/internal/markup"
	"hermes/internal/tui/input"
)

// key handles a key press. The open question, search or menu gets it first,
// then the input.
func (m *model) key(k input.Key) []any {
	last, now := m.input.Pressed(m.now()), m.now()
	m.input.Hint = ""
	if k.Name != "ctrl+c" {
		m.leave.asked = false
	}
	switch k.Name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+z":
		return []any{suspendDo{}}
	case "ctrl+l":
		return []any{redrawDo{}}
	}
	gone := m.gone
	m.gone = time.Time{}
	if (k.Name == "enter" || k.Name == "kpenter") && now.Sub(gone) < settle {
		return nil // it was meant for the question
	}
	var touched []any
	if a := m.ask(); a != nil {
		a.arm(last, now)
		do, taken := m.askKey(a, k)
		if len(do) == 0 && a == m.ask() && (a.armed || a.typing) {
			touched = a.touch(now)
		}
		if taken {
			return append(do, touched...)
		}
	}
	if m.unsent = m.unsent && !m.input.Empty(); m.unsent && (k.Name == "enter" || k.Name == "kpenter") {
		m.unsent, m.input.Hint = false, "You typed this for a question that is closed. Press Enter again to send it as a message."
		return touched
	}
	switch m.input.Press(k, m.cols()) {
	case input.NextMode:
		return append(touched, m.conv.nextMode()...)
	case input.Names:
		return append(touched, namesDo{m.input.Word()})
	case input.Send:
		return append(touched, m.send()...)
	case input.Quit:
		return append(touched, quitDo{})
	}
	return touched
}

// interrupt is Ctrl+C: it stops the turn. Pressed twice it quits.
func (m *model) interrupt() []any {
	now := m.now()
	if m.leave.wanted(now) {
		return []any{quitDo{}}
	}
	m.input.Close()
	if a := m.ask(); a != nil && a.confirm != "" {
		m.closeAsk()
		return nil
	}
	preparing := !m.turn.busy && m.conv.preparing()
	if !m.turn.busy && !preparing && (!m.input.Empty() || m.input.Stashed()) {
		m.input.Clear()
		return nil
	}
	m.leave.begin(now)
	if !m.turn.busy && !preparing {
		return nil
	}
	m.turn.stopping = true
	if preparing { // the text comes back when the session has stopped
		return []any{submitDo{op: hermes.Stop{}}}
	}
	m.input.Unstash()
	m.input.Before(m.conv.takeBack())
	var do []any
	for _, a := range m.asks {
		if a.approval != nil {
			do = append(do, submitDo{a.denial(""), a.session})
		}
	}
	m.asks = nil
	return append(do, submitDo{op: hermes.Stop{}})
}

// quitTime is how long after Ctrl+C a second one quits.
const quitTime = 2 * time.Second

// leaving is the wish to quit: Ctrl+C was pressed once, not long ago.
type leaving struct {
	asked bool
	until time.Time
}

// wanted reports whether one more Ctrl+C quits.
func (l *leaving) wanted(now time.Time) bool { return l.asked && now.Before(l.until) }

func (l *leaving) begin(now time.Time) { l.asked, l.until = true, now.Add(quitTime) }

// tick ends the wish when its time is over.
func (l *leaving) tick(now time.Time) { l.asked = l.asked && !now.After(l.until) }

// askKey offers a key to the question. It reports whether the question took
// it; else the input gets it.
func (m *model) askKey(a *ask, k input.Key) ([]any, bool) {
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

func (m *model) choiceKey(a *ask, k input.Key) ([]any, bool) {
	switch k.Name {
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
			m.input.Stash()
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
func (m *model) choiceText(a *ask, k input.Key) ([]any, bool) {
	for i, o := range a.options {
		if k.Text != o.key {
			continue
		}
		a.at = i
		if a.question.Multiple && i < a.other() {
			a.marked[i] = !a.marked[i]
			return nil, true
		}
		return m.choiceKey(a, input.Key{Name: "enter"})
	}
	if k.Text == "" {
		return nil, true
	}
	a.typing = true
	m.input.Stash()
	return nil, false
}

func (m *model) answerKey(a *ask, k input.Key) ([]any, bool) {
	switch k.Name {
	case "enter":
		text := strings.TrimSpace(m.input.Value())
		if text == "" {
			return nil, true
		}
		words := markup.OneLine(text)
		if a.question.Secret {
			words = "••••••"
		}
		return m.resolve(a.answer(text), words), true
	case "esc":
		switch {
		case len(a.options) > 0:
			a.typing = false
			m.input.Unstash()
		case a.armed && m.input.Empty():
			return m.resolve(a.dismissal(), "skipped"), true
		}
		return nil, true
	case "ctrl+d":
		if m.input.Empty() {
			return []any{quitDo{}}, true
		}
	case "up", "down", "tab", "ctrl+r":
		return nil, true
	}
	return nil, false
}
