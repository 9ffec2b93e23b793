package tui

import (
	"strings"
	"time"
)

// inputKey edits the input, browses the history, and sends.
func (m *model) inputKey(k keyMsg) []any {
	e := &m.input
	switch k.name {
	case "enter", "kpenter":
		if e.cur == len(e.text) && e.cur > 0 && e.text[e.cur-1] == '\\' {
			e.cut(e.cur-1, e.cur, false)
			e.insert("\n")
			return nil
		}
		return m.send()
	case "alt+enter", "ctrl+j", "shift+enter", "ctrl+enter":
		e.insert("\n")
	case "ctrl+d":
		if e.empty() && m.draft == nil {
			return []any{quitDo{}}
		}
		e.cut(e.cur, e.right(), false)
	case "tab":
		m.complete()
		return nil
	case "up", "ctrl+p":
		m.upDown(-1)
		return nil
	case "down", "ctrl+n":
		m.upDown(1)
		return nil
	case "ctrl+r":
		m.past.load()
		m.find = &search{at: len(m.past.entries)}
		return nil
	case "esc":
		m.menu.close()
		return nil
	default:
		if !e.edit(k.name) {
			if k.text == "" {
				return nil
			}
			e.insert(k.text)
		}
	}
	m.suggest()
	return nil
}

// edit handles the keys that change only the text or the cursor. It reports
// whether the key is one of them.
func (e *editor) edit(name string) bool {
	switch name {
	case "left", "ctrl+b":
		e.move(e.left())
	case "right", "ctrl+f":
		e.move(e.right())
	case "alt+left", "ctrl+left", "alt+b":
		e.move(e.wordLeft())
	case "alt+right", "ctrl+right", "alt+f":
		e.move(e.wordRight())
	case "home", "ctrl+a":
		e.move(e.lineStart())
	case "end", "ctrl+e":
		e.move(e.lineEnd())
	case "ctrl+home":
		e.move(0)
	case "ctrl+end":
		e.move(len(e.text))
	case "backspace", "ctrl+h", "shift+backspace":
		e.cut(e.left(), e.cur, false)
	case "delete":
		e.cut(e.cur, e.right(), false)
	case "ctrl+w":
		e.cut(e.blankLeft(), e.cur, true)
	case "alt+backspace", "ctrl+backspace":
		e.cut(e.wordLeft(), e.cur, true)
	case "alt+d", "ctrl+delete", "alt+delete":
		e.cut(e.cur, e.wordRight(), true)
	case "ctrl+u":
		e.cut(e.lineStart(), e.cur, true)
	case "ctrl+k":
		if end := e.lineEnd(); end > e.cur {
			e.cut(e.cur, end, true)
		} else {
			e.cut(e.cur, min(e.cur+1, len(e.text)), true)
		}
	case "ctrl+y":
		e.insertRunes(e.yank)
	default:
		return false
	}
	return true
}

// upDown moves between the rows of the input and, at its edges, through the
// history.
func (m *model) upDown(by int) {
	if m.input.vertical(by, m.inputWidth()) {
		return
	}
	if m.ask() != nil && m.ask().typing {
		return
	}
	if text, ok := m.past.step(by, m.input.value()); ok {
		m.input.set(text)
		m.menu.close()
	}
}

// suggest updates the menu of commands for the text so far.
func (m *model) suggest() {
	m.menu.close()
	if m.draft != nil || m.input.cur != len(m.input.text) {
		return
	}
	line := string(m.input.text)
	list := append(commands(line), m.calledSkills(line)...)
	if len(list) == 1 && list[0].insert == line && !list[0].more {
		return
	}
	m.menu.choices = list
}

// complete is Tab: it completes the word before the cursor as a path, as far
// as it is unambiguous, and offers the candidates.
func (m *model) complete() {
	from := m.input.blankLeft()
	word := string(m.input.text[from:m.input.cur])
	if strings.ContainsAny(word, " \n\t") || word == "" {
		return
	}
	list := paths(word, m.dir)
	switch {
	case len(list) == 0:
		m.hint = "No match"
		return
	case len(list) == 1:
		m.menu = menu{choices: list, from: from}
		m.accept(list[0])
		return
	}
	if prefix := common(list); len(prefix) > len(word) {
		m.input.cut(from, m.input.cur, false)
		m.input.insert(prefix)
	}
	m.menu = menu{choices: list, from: from}
}

// accept replaces the word with a choice.
func (m *model) accept(c choice) {
	from := m.menu.from
	m.menu.close()
	m.input.cut(from, m.input.cur, false)
	m.input.insert(c.insert)
	switch {
	case !c.more:
		m.input.insert(" ")
	case strings.HasPrefix(c.insert, "/") && from == 0 && !strings.HasSuffix(c.insert, "/"):
		m.input.insert(" ")
	default: // a folder: offer what is in it
		from = m.input.blankLeft()
		m.menu = menu{choices: paths(string(m.input.text[from:m.input.cur]), m.dir), from: from}
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
