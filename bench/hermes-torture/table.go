package main

import "strings"

// table is a Markdown table. The first row has the names of the columns.
type table [][]string

func (t table) String() string {
	var b strings.Builder
	for i, row := range t {
		b.WriteString("|")
		for _, cell := range row {
			cell = strings.NewReplacer("\n", " ", "|", `\|`).Replace(cell)
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat(" --- |", len(row)) + "\n")
		}
	}
	return b.String()
}
