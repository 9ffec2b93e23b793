package input

import (
	"fmt"
	"strings"

	"hermes/internal/markup"
)

const (
	maxChoices = 200 // most entries of a folder that are offered
	menuRows   = 8   // most entries that are shown at once
)

// choice is an entry of the completion menu.
type choice struct {
	insert string // what replaces the word
	label  string
	help   string
	more   bool // the word goes on after it: a folder, or a command with arguments
}

// menu is the list of completions below the input.
type menu struct {
	choices []choice
	at      int
	from    int  // index in the text where the word begins
	chosen  bool // the user has moved in the menu
}

func (m *menu) open() bool { return len(m.choices) > 0 }

func (m *menu) close() { *m = menu{} }

func (m *menu) step(by int) {
	m.at = (m.at + by + len(m.choices)) % len(m.choices)
	m.chosen = true
}

// menuKey moves in the completion menu and accepts an entry.
func (l *Line) menuKey(k Key) (Wish, bool) {
	switch k.Name {
	case "up":
		l.menu.step(-1)
	case "down":
		l.menu.step(1)
	case "tab":
		l.accept(l.menu.choices[l.menu.at])
	case "shift+tab":
		l.menu.step(-1)
	case "esc":
		l.menu.close()
	case "enter":
		if !l.menu.chosen {
			return Nothing, false
		}
		c := l.menu.choices[l.menu.at]
		l.accept(c)
		if c.more || !strings.HasPrefix(c.insert, "/") || l.menu.from > 0 {
			return Nothing, true
		}
		return Send, true
	default:
		return Nothing, false
	}
	return Nothing, true
}

// MenuRows draws the menu around the selected choice; nil without one.
func (l *Line) MenuRows(t Theme, width int) []string {
	if !l.menu.open() || l.find != nil {
		return nil
	}
	return l.menu.rows(t, width)
}

func (m *menu) rows(t Theme, width int) []string {
	list := m.choices
	first := min(max(m.at-menuRows/2, 0), max(len(list)-menuRows, 0))
	last := min(first+menuRows, len(list))
	wide := 0
	for _, c := range list[first:last] {
		wide = max(wide, markup.Width(c.label))
	}
	wide = min(wide, width*2/3)
	var rows []string
	for i := first; i < last; i++ {
		c := list[i]
		label := markup.Clip(markup.OneLine(c.label), wide)
		fill := strings.Repeat(" ", max(wide-markup.Width(label), 0))
		help := markup.Clip(c.help, max(width-wide-6, 0))
		mark := "  "
		if i == m.at {
			mark = t.Accent("› ")
			label = t.Strong(label)
		}
		line := mark + label
		if help != "" {
			line += fill + "  " + t.Faint(help)
		}
		rows = append(rows, line)
	}
	if more := len(list) - last; more > 0 {
		rows = append(rows, t.Faint(fmt.Sprintf("  %d more below", more)))
	}
	return rows
}
