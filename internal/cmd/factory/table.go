package factory

import (
	"fmt"
	"io"
	"strings"

	"hermes/internal/markup"
)

// Table prints rows in aligned columns, as wide as terminals show them.
type Table struct {
	// Numbers is the first column that is aligned to the right; 0 means none.
	Numbers int
	// Fit is a width at which the last column is cut, but not below 20 cells; 0 cuts nothing.
	Fit  int
	rows [][]string
}

// Row adds a row; one without cells is an empty line.
func (t *Table) Row(cells ...any) {
	row := make([]string, len(cells))
	for i, c := range cells {
		row[i] = fmt.Sprint(c)
	}
	t.rows = append(t.rows, row)
}

// Print writes the rows that were added, and forgets them.
func (t *Table) Print(w io.Writer) error {
	t.fit()
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], markup.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-markup.Width(cell))
			if t.Numbers > 0 && i >= t.Numbers {
				line.WriteString(blanks + cell + "  ")
			} else {
				line.WriteString(cell + blanks + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	t.rows = nil
	_, err := io.WriteString(w, b.String())
	return err
}

// fit cuts the last column.
func (t *Table) fit() {
	if t.Fit == 0 || len(t.rows) == 0 {
		return
	}
	last := len(t.rows[0]) - 1
	left := t.Fit
	for i := range last {
		widest := 0
		for _, row := range t.rows {
			if i < len(row) {
				widest = max(widest, markup.Width(row[i]))
			}
		}
		left -= widest + 2
	}
	for _, row := range t.rows {
		if len(row) == last+1 {
			row[last] = markup.Clip(row[last], max(left, 20))
		}
	}
}
