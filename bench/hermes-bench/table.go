package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is one figure. A baseline of 0 means that the baseline program has none.
type row struct {
	what     string
	unit     string
	baseline float64
	hermes   float64
	target   float64
	atLeast  bool // the target is a lower bound
}

func (r row) met() bool {
	if r.atLeast {
		return r.hermes >= r.target
	}
	return r.hermes <= r.target
}

// figure writes a value with its unit and a reasonable number of digits.
func figure(value float64, unit string) string {
	switch {
	case value == 0:
		return "–"
	case unit == "%":
		return fmt.Sprintf("%.4g %%", value)
	case value < 1:
		return fmt.Sprintf("%.2f %s", value, unit)
	case value < 100:
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}

func (r row) cells() []string {
	ratio, bound := "–", "≤ "
	if r.baseline > 0 {
		ratio = fmt.Sprintf("%.1f×", r.hermes/r.baseline)
	}
	if r.atLeast {
		bound = ""
	}
	verdict := "met"
	if !r.met() {
		verdict = "missed"
	}
	return []string{
		r.what, figure(r.baseline, r.unit), figure(r.hermes, r.unit), ratio,
		bound + fmt.Sprintf("%.4g %s", r.target, r.unit), verdict,
	}
}

// table formats the rows, for a terminal or as Markdown.
func table(rows []row, markdown bool) string {
	lines := [][]string{{"what", "baseline", "hermes", "ratio", "target", ""}}
	if markdown {
		lines = append(lines, []string{"---", "--:", "--:", "--:", "--:", "---"})
	}
	for _, r := range rows {
		lines = append(lines, r.cells())
	}
	var text strings.Builder
	if markdown {
		for _, cells := range lines {
			text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
		}
		return text.String()
	}
	columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, cells := range lines {
		fmt.Fprintln(columns, strings.ReplaceAll(strings.Join(cells, "\t"), "`", ""))
	}
	_ = columns.Flush() // a strings.Builder never fails
	return text.String()
}

// missed counts the targets that were not met.
func missed(rows []row) int {
	n := 0
	for _, r := range rows {
		if !r.met() {
			n++
		}
	}
	return n
}

func median(values []float64) float64 { return percentile(values, 50) }

// percentile returns the nearest value at or above the given share; 0 for no values.
func percentile(values []float64, share int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*share/100)]
}
