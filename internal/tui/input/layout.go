package input

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hermes/internal/markup"
	"hermes/internal/text"
)

// drawnRune is a character of the input as it is drawn.
type drawnRune struct {
	at    int // index into the text
	shown string
	width int
}

// inputRow is a row of the input as it is drawn.
type inputRow struct {
	start int // index of its first character
	runes []drawnRune
}

// layout breaks the text into rows of a width. There is always at least one
// row, and the cursor is always in one.
func (e *editor) layout(width int) (rows []inputRow, row, col int) {
	rows = []inputRow{{}}
	used := 0
	for at := 0; at < len(e.text); {
		if e.text[at] == '\n' {
			if at == e.cur {
				row, col = len(rows)-1, used
			}
			at++
			rows, used = append(rows, inputRow{start: at}), 0
			continue
		}
		n, shown, w := e.draw(at)
		w = min(w, width)
		if used+w > width {
			rows, used = append(rows, inputRow{start: at}), 0
		}
		if at <= e.cur && e.cur < at+n {
			row, col = len(rows)-1, used
		}
		last := &rows[len(rows)-1]
		last.runes = append(last.runes, drawnRune{at, markup.Clip(shown, width), w})
		used += w
		at += n
	}
	if e.cur == len(e.text) {
		if used >= width {
			rows, used = append(rows, inputRow{start: len(e.text)}), 0
		}
		row, col = len(rows)-1, used
	}
	return rows, row, col
}

// draw returns how the character at an index is shown: how many runes it
// takes, its text on the screen and its width.
func (e *editor) draw(at int) (n int, shown string, width int) {
	r := e.text[at]
	switch i, folded := e.foldOf(r); {
	case folded:
		label := fmt.Sprintf("[paste %d: %s]", i+1, text.Plural(strings.Count(strings.TrimSuffix(e.folds[i], "\n"), "\n")+1, "line", "lines"))
		return 1, label, len(label)
	case r == '\t':
		return 1, "    ", 4
	case r < utf8.RuneSelf && (at+1 == len(e.text) || e.text[at+1] < utf8.RuneSelf):
		return 1, string(r), 1
	}
	n = clusterRunes(e.text[at:])
	shown = string(e.text[at : at+n])
	width = markup.Width(shown)
	if width == 0 || markup.Visible(shown) != shown {
		shown = markup.Visible(shown)
		width = markup.Width(shown)
	}
	return n, shown, width
}

// vertical moves the cursor a row up or down. It reports false at the edge.
func (e *editor) vertical(step, width int) bool {
	rows, row, col := e.layout(width)
	to := row + step
	if to < 0 || to >= len(rows) {
		return false
	}
	goal := e.goal
	if goal < 0 {
		goal = col
	}
	at, used := rows[to].start, 0
	for _, p := range rows[to].runes {
		n, _, _ := e.draw(p.at)
		if used+p.width > goal || to+1 < len(rows) && p.at+n == rows[to+1].start {
			break // past the goal, or where the next row begins
		}
		used += p.width
		at = p.at + n
	}
	e.cur, e.goal = at, goal
	return true
}

const (
	maxRows   = 12 // most rows of the text that are shown
	inputMark = "› "
)

// textWidth is the width of the text in a line of a width.
func textWidth(width int) int { return max(width-markup.Width(inputMark), 4) }

// Rows draws the text, or the search that replaces it, and returns where the
// cursor is. A secret is hidden.
func (l *Line) Rows(t Theme, width int, secret bool) (rows []string, row, col int) {
	if l.find != nil {
		return l.find.rows(t, width)
	}
	laid, row, col := l.layout(textWidth(width))
	first := max(row-maxRows+1, 0)
	last := min(first+maxRows, len(laid))
	for i := first; i < last; i++ {
		var b strings.Builder
		mark := strings.Repeat(" ", markup.Width(inputMark))
		if i == 0 {
			mark = t.Accent(inputMark)
		}
		b.WriteString(mark)
		for _, p := range laid[i].runes {
			switch {
			case secret:
				b.WriteString(strings.Repeat("•", p.width))
			case len(p.shown) > 7 && strings.HasPrefix(p.shown, "[paste "):
				b.WriteString(t.Faint(p.shown))
			default:
				b.WriteString(p.shown)
			}
		}
		rows = append(rows, b.String())
	}
	return rows, row - first, min(col+markup.Width(inputMark), width-1)
}
