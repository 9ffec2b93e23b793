package tui

import (
	"strconv"
	"strings"

	"hermes/internal/markup"
)

// vt is the part of a terminal that the chat uses: rows that wrap, and wrap
// again when the width changes, a screen at their end, and a cursor.
type vt struct {
	width, height int
	rows          []vtRow
	top           int // first row of the screen
	row, col      int // the cursor; row counts from the first of rows
	saved         [2]int
	hidden        bool
	modes         map[string]bool
	odd           []string // sequences it does not know
	rest          string
}

type vtRow struct {
	cells   []string // one for each cell; the second of a wide character is empty
	wrapped bool     // the text goes on in the next row
}

func newVT(width, height int) *vt {
	return &vt{width: width, height: height, rows: make([]vtRow, 1), modes: map[string]bool{}}
}

func (v *vt) Write(p []byte) (int, error) {
	text := v.rest + string(p)
	v.rest = ""
	for text != "" {
		switch c := text[0]; {
		case c == 0x1b:
			n := v.escape(text)
			if n == 0 {
				v.rest = text
				return len(p), nil
			}
			text = text[n:]
		case c == '\r':
			v.col = 0
			text = text[1:]
		case c == '\n':
			v.down()
			text = text[1:]
		case c == '\a':
			text = text[1:]
		default:
			n, w := markup.Cluster(text)
			v.put(text[:n], w)
			text = text[n:]
		}
	}
	return len(p), nil
}

func (v *vt) down() {
	v.row++
	if v.row == len(v.rows) {
		v.rows = append(v.rows, vtRow{})
	}
	v.top = max(v.top, v.row-v.height+1)
}

func (v *vt) put(text string, w int) {
	if v.col+w > v.width {
		v.rows[v.row].wrapped = true
		v.down()
		v.col = 0
	}
	r := &v.rows[v.row]
	for len(r.cells) < v.col+w {
		r.cells = append(r.cells, " ")
	}
	r.cells[v.col] = text
	for i := 1; i < w; i++ {
		r.cells[v.col+i] = ""
	}
	v.col += w
}

// escape carries out the sequence that text begins with; 0 is unfinished.
func (v *vt) escape(text string) int {
	if len(text) < 2 {
		return 0
	}
	if text[1] == ']' {
		end := strings.IndexByte(text, '\a')
		return end + 1
	}
	switch text[1] {
	case '7':
		v.saved = [2]int{v.row, v.col}
		return 2
	case '8':
		v.row, v.col = v.saved[0], v.saved[1]
		return 2
	}
	end := 2
	for end < len(text) && (text[end] < 0x40 || text[end] > 0x7e) {
		end++
	}
	if end == len(text) {
		return 0
	}
	args, final := text[2:end], text[end]
	n, _ := strconv.Atoi(args)
	n = max(n, 1)
	switch {
	case final == 'm':
	case final == 'A':
		v.row = max(v.row-n, v.top)
	case final == 'B':
		v.row = min(v.row+n, v.top+v.height-1)
		for v.row >= len(v.rows) {
			v.rows = append(v.rows, vtRow{})
		}
	case final == 'C':
		v.col = min(v.col+n, v.width-1)
	case final == 'K' && args == "":
		v.cutRow()
	case final == 'J' && args == "":
		v.cutRow()
		v.rows = v.rows[:v.row+1]
	case final == 'h' || final == 'l' || final == 'u':
		v.modes[strings.TrimLeft(args, "?")+string(final)] = true
		if args == "?25" {
			v.hidden = final == 'l'
		}
	case final == 'H' || final == 'J':
		v.rows, v.top, v.row, v.col = make([]vtRow, 1), 0, 0, 0
	default:
		v.odd = append(v.odd, text[:end+1])
	}
	return end + 1
}

func (v *vt) cutRow() {
	r := &v.rows[v.row]
	r.cells = r.cells[:min(v.col, len(r.cells))]
	r.wrapped = false
}

// resize wraps the rows again, as most terminals do.
func (v *vt) resize(width, height int) {
	old := v.rows
	at, col := v.row, v.col
	v.rows, v.width, v.height = nil, width, height
	for i := 0; i < len(old); i++ {
		var line []string
		cursor := -1
		for ; ; i++ {
			if i == at {
				cursor = len(line) + col
			}
			line = append(line, old[i].cells...)
			if !old[i].wrapped || i+1 == len(old) {
				break
			}
		}
		first := len(v.rows)
		v.rows = append(v.rows, vtRow{})
		for n := 0; n < len(line); n++ {
			w := 1
			if n+1 < len(line) && line[n+1] == "" {
				w = 2
			}
			last := &v.rows[len(v.rows)-1]
			if len(last.cells)+w > width {
				last.wrapped = true
				v.rows = append(v.rows, vtRow{})
				last = &v.rows[len(v.rows)-1]
			}
			last.cells = append(last.cells, line[n:n+w]...)
			n += w - 1
		}
		if cursor >= 0 {
			v.row, v.col = min(first+cursor/width, len(v.rows)-1), cursor%width
		}
	}
	v.top = max(len(v.rows)-height, 0)
}

// text is everything, scrollback first, without blanks at line ends.
func (v *vt) text() string {
	var b strings.Builder
	for _, r := range v.rows {
		line := strings.Join(r.cells, "")
		if !r.wrapped {
			line = strings.TrimRight(line, " ") + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// screenText is what can be seen, with the place of the cursor marked.
func (v *vt) screenText() string {
	var b strings.Builder
	for i := v.top; i < len(v.rows); i++ {
		cells := append([]string(nil), v.rows[i].cells...)
		if i == v.row && !v.hidden {
			for len(cells) <= v.col {
				cells = append(cells, " ")
			}
			cells[v.col] = "▮" + strings.TrimSpace(cells[v.col])
		}
		b.WriteString(strings.TrimRight(strings.Join(cells, ""), " ") + "\n")
	}
	return b.String()
}
