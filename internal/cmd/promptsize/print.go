package promptsize

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"hermes/internal/order"

	"hermes"
)

// write prints the report as text, largest tools first.
func (r report) write(out io.Writer) error {
	w := &table{}
	share := ""
	if r.Window > 0 {
		share = "window"
	}
	line := func(name, tier string, bytes, tokens int) {
		w.row("  "+name, tier, strconv.Itoa(bytes), strconv.Itoa(tokens), r.share(tokens))
	}
	w.row("System prompt ("+r.Platform+")", "", "bytes", "tokens", share)
	for _, s := range r.System.Sections {
		line(s.Name, s.Tier, s.Bytes, s.Tokens)
	}
	line("total", "", r.System.Bytes, r.System.Tokens)
	w.row()
	w.row(fmt.Sprintf("Tools (%d)", r.Tools.Count))
	list := slices.Clone(r.Tools.Tools)
	order.By(list, func(a, b tool) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, t := range list {
		line(t.Name, "", t.Bytes, t.Tokens)
	}
	line("total", "", r.Tools.Bytes, r.Tools.Tokens)
	_, err := fmt.Fprintf(out, "%s\nEvery request begins with %d bytes, about %d tokens%s.\n%s", w, r.Total, r.Tokens, r.ofWindow(), r.money())
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "Note: %s.\n", warning)
	}
	return err
}

// table has rows of two text cells followed by right-aligned numbers. Both parts
// of the report share its columns.
type table struct{ rows [][]string }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var wide [5]int
	for _, r := range t.rows {
		for i, c := range r {
			wide[i] = max(wide[i], len(c))
		}
	}
	var out strings.Builder
	for _, r := range t.rows {
		var line strings.Builder
		for i, c := range r {
			if i < 2 {
				fmt.Fprintf(&line, "%-*s  ", wide[i], c)
			} else {
				fmt.Fprintf(&line, "%*s  ", wide[i], c)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}

// share is a part of the window in percent, "" if the window is unknown.
func (r report) share(tokens int) string {
	switch {
	case r.Window <= 0:
		return ""
	case tokens*100 < r.Window:
		return "<1 %"
	}
	return fmt.Sprintf("%d %%", tokens*100/r.Window)
}

func (r report) ofWindow() string {
	if r.Window <= 0 {
		return ""
	}
	return fmt.Sprintf(", %d %% of the window of %s (%d)", r.Tokens*100/r.Window, r.Model, r.Window)
}

// money is a sentence on the cost of the beginning of a request.
func (r report) money() string {
	switch {
	case r.Model == "":
		return ""
	case r.Fresh == nil:
		return fmt.Sprintf("The price of %s is unknown.\n", r.Model)
	case *r.Fresh == 0:
		return fmt.Sprintf("%s is free.\n", r.Model)
	case r.Cached == nil:
		return fmt.Sprintf("That costs %v with %s; the price from the cache is unknown.\n", hermes.USD(*r.Fresh), r.Model)
	}
	return fmt.Sprintf("That costs %v with %s, and %v when read from the cache.\n", hermes.USD(*r.Fresh), r.Model, hermes.USD(*r.Cached))
}
