package markup

import (
	"strings"

	"github.com/yuin/goldmark/text"
)

// table is a pipe table: cells in Markdown, a head and any number of rows.
type table struct {
	align []byte // 'l', 'r' or 'c' for each column
	rows  [][]string
}

// readTable reads a paragraph as a table if its second line is a delimiter row.
func readTable(lines *text.Segments, src []byte) (table, bool) {
	if lines == nil || lines.Len() < 2 {
		return table{}, false
	}
	second := lines.At(1)
	align, ok := delimiterRow(string(second.Value(src)))
	if !ok {
		return table{}, false
	}
	first := lines.At(0)
	head := rowCells(string(first.Value(src)))
	if len(head) != len(align) {
		return table{}, false
	}
	t := table{align: align, rows: [][]string{head}}
	for i := 2; i < lines.Len(); i++ {
		line := lines.At(i)
		row := rowCells(string(line.Value(src)))
		for len(row) < len(align) {
			row = append(row, "")
		}
		t.rows = append(t.rows, row[:len(align)])
	}
	return t, true
}

func delimiterRow(line string) ([]byte, bool) {
	if !strings.ContainsRune(line, '-') || !strings.ContainsAny(line, "|:") {
		return nil, false
	}
	var align []byte
	for _, cell := range rowCells(line) {
		left, right := strings.HasPrefix(cell, ":"), strings.HasSuffix(cell, ":")
		if strings.Trim(strings.Trim(cell, ":"), "-") != "" || !strings.Contains(cell, "-") {
			return nil, false
		}
		switch {
		case left && right:
			align = append(align, 'c')
		case right:
			align = append(align, 'r')
		default:
			align = append(align, 'l')
		}
	}
	return align, true
}

// rowCells splits a row at its bars. Bars that are escaped or in code are text.
func rowCells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var row []string
	var cell strings.Builder
	code := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case c == '|' && !code:
			row = append(row, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			if c == '`' {
				code = !code
			}
			cell.WriteByte(c)
		}
	}
	if last := strings.TrimSpace(cell.String()); last != "" || !strings.HasSuffix(line, "|") {
		row = append(row, last)
	}
	return row
}

// table prints columns side by side or, if the terminal is too narrow, each row as a
// list of its cells.
func (r *renderer) table(t table, in *indent) {
	columns := len(t.align)
	spans := make([][][]span, len(t.rows))
	want := make([]int, columns)
	for i, row := range t.rows {
		spans[i] = make([][]span, columns)
		for j, cell := range row {
			style := r.o.Style
			if i == 0 {
				style = style.with(0, Bold)
			}
			spans[i][j] = r.o.phraseSpans(cell, style)
			want[j] = max(want[j], spansWidth(spans[i][j]))
		}
	}
	avail := r.o.width() - in.width - 3*(columns-1)
	if avail < columns*6 && sum(want) > avail {
		r.records(spans, in)
		return
	}
	widths := fit(want, avail)
	for i := range spans {
		r.tableRow(spans[i], widths, t.align, in)
		if i == 0 {
			r.tableRule(widths, in)
		}
	}
}

func (r *renderer) tableRule(widths []int, in *indent) {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	r.emit(in.line(span{strings.Join(parts, "─┼─"), Style{Color: Gray}}))
}

// tableRow prints one row, on several lines if cells wrap.
func (r *renderer) tableRow(row [][]span, widths []int, align []byte, in *indent) {
	wrapped := make([][][]span, len(row))
	height := 1
	for j, cell := range row {
		w := &wrapper{width: max(widths[j], 1)}
		for _, s := range cell {
			w.add(s.text, s.style)
		}
		wrapped[j] = w.finish()
		height = max(height, len(wrapped[j]))
	}
	for y := range height {
		line := in.line()
		for j := range row {
			if j > 0 {
				line = append(line, span{" │ ", Style{Color: Gray}})
			}
			var cell []span
			if y < len(wrapped[j]) {
				cell = wrapped[j][y]
			}
			line = append(line, pad(cell, widths[j], align[j])...)
		}
		r.emit(line)
	}
}

// records shows each row as lines of "head: cell".
func (r *renderer) records(rows [][][]span, in *indent) {
	for i, row := range rows[1:] {
		if i > 0 {
			r.emit(in.rest)
		}
		for j, cell := range row {
			w := newWrapper(*in, r.o.width())
			for _, s := range rows[0][j] {
				w.add(s.text, s.style)
			}
			w.add(": ", r.o.Style)
			for _, s := range cell {
				w.add(s.text, s.style)
			}
			r.lines = append(r.lines, w.finish()...)
			in.take()
		}
	}
}

func pad(cell []span, width int, align byte) []span {
	gap := max(width-spansWidth(cell), 0)
	left := 0
	switch align {
	case 'r':
		left = gap
	case 'c':
		left = gap / 2
	}
	out := make([]span, 0, len(cell)+2)
	out = append(out, span{strings.Repeat(" ", left), Style{}})
	out = append(out, cell...)
	return append(out, span{strings.Repeat(" ", gap-left), Style{}})
}

// fit narrows the widest columns until all fit the available width.
func fit(want []int, avail int) []int {
	widths := append([]int(nil), want...)
	for sum(widths) > avail {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 6 {
			break
		}
		widths[widest]--
	}
	return widths
}

func sum(list []int) (total int) {
	for _, n := range list {
		total += n
	}
	return total
}

func spansWidth(list []span) (total int) {
	for _, s := range list {
		total += Width(s.text)
	}
	return total
}
