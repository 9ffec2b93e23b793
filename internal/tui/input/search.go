package input

import "hermes/internal/markup"

// search is the search in the history.
type search struct {
	text  string
	at    int
	found string
}

// searchKey handles a key while the user searches. It reports false for one
// that ends the search and is meant for the text.
func (l *Line) searchKey(k Key) bool {
	f := l.find
	switch k.Name {
	case "ctrl+r":
		f.again(&l.past, f.at)
	case "backspace":
		if r := []rune(f.text); len(r) > 0 {
			f.text = string(r[:len(r)-1])
		}
		f.again(&l.past, len(l.past.entries))
	case "esc", "ctrl+g":
		l.find = nil
	case "enter", "tab", "right", "left", "up", "down", "home", "end":
		if f.found != "" {
			l.set(f.found)
		}
		l.find = nil
	default:
		if k.Text == "" {
			l.find = nil
			return false
		}
		f.text += k.Text
		f.again(&l.past, len(l.past.entries))
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

// rows draws the search, and returns where the cursor is.
func (f *search) rows(t Theme, width int) (rows []string, row, col int) {
	head := "search: " + f.text
	rows = []string{t.Accent(markup.Clip(head, width))}
	if f.found != "" {
		rows = append(rows, t.Faint(markup.Clip("  "+markup.OneLine(f.found), width)))
	}
	return rows, 0, min(markup.Width(head), width-1)
}
