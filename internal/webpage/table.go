package webpage

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of a table.
const (
	maxColumns = 30
	maxCell    = 2000
)

// table writes rows between bars. A layout table, with tables or headings in its
// cells or a single column, is written as blocks.
func (w *writer) table(n *html.Node) {
	rows := rowsOf(n)
	if layout(n, rows) {
		w.open(2)
		for _, row := range rows {
			for _, cell := range row {
				w.block(cell, 1, "")
			}
		}
		w.open(2)
		return
	}
	columns := 0
	for _, r := range rows {
		columns = max(columns, min(len(r), maxColumns))
	}
	if caption := find(n, atom.Caption); caption != nil {
		w.block(caption, 2, "")
	}
	w.open(2)
	first := true
	for _, r := range rows {
		if !w.row(r, columns) || !first {
			continue
		}
		first = false
		w.open(1)
		w.write("|" + strings.Repeat(" --- |", columns))
	}
	w.open(2)
}

// row writes a row, unless it is empty.
func (w *writer) row(cells []*html.Node, columns int) bool {
	empty := true
	var b strings.Builder
	b.WriteString("|")
	for i := range columns {
		text := ""
		if i < len(cells) {
			text = strings.ReplaceAll(strings.Join(strings.Fields(w.sub(cells[i])), " "), "|", "\\|")
			text, _ = clip(text, maxCell)
		}
		b.WriteString(" " + text + " |")
		empty = empty && text == ""
	}
	if empty {
		return false
	}
	w.open(1)
	w.write(b.String())
	return true
}

// rowsOf returns the cells of a table, row by row, without those of nested
// tables.
func rowsOf(table *html.Node) (rows [][]*html.Node) {
	var walk func(*html.Node, bool)
	walk = func(n *html.Node, inRow bool) {
		for c := range n.ChildNodes() {
			if c.Type != html.ElementNode || silent(c) {
				continue
			}
			switch c.DataAtom {
			case atom.Tr:
				rows = append(rows, nil)
				walk(c, true)
			case atom.Td, atom.Th:
				if inRow {
					rows[len(rows)-1] = append(rows[len(rows)-1], c)
				}
			case atom.Thead, atom.Tbody, atom.Tfoot:
				walk(c, false)
			}
		}
	}
	walk(table, false)
	return rows
}

func layout(n *html.Node, rows [][]*html.Node) bool {
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Table, atom.H1, atom.H2, atom.H3, atom.Pre:
			return true
		}
	}
	for _, r := range rows {
		if len(r) > 1 {
			return false
		}
	}
	return true
}
