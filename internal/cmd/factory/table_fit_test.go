package factory_test

import (
	"strings"
	"testing"

	"hermes/internal/cmd/factory"
	"hermes/internal/markup"
)

// TestATableFitsItsTerminal: the last column is cut, but some of it always stays.
func TestATableFitsItsTerminal(t *testing.T) {
	t.Parallel()
	for fit, want := range map[int]int{0: 89, 60: 60, 10: 51} {
		table := factory.Table{Fit: fit}
		table.Row("ID", "WHERE", "TITLE")
		table.Row("20261120_090000_aaaaaa", "日本", strings.Repeat("title ", 9)+"end.")
		table.Row()
		var out strings.Builder
		if err := table.Print(&out); err != nil {
			t.Fatal(err)
		}
		widest := 0
		for line := range strings.Lines(out.String()) {
			widest = max(widest, markup.Width(strings.TrimSuffix(line, "\n")))
		}
		if widest != want && widest != want-1 { // a space at the cut is cut, too
			t.Errorf("fit %d: %d wide:\n%s", fit, widest, out.String())
		}
	}
}
