package promptsize

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"hermes/internal/cmd/factory"
	"hermes/internal/order"

	"hermes"
)

// write prints the report as text, largest tools first.
func (r report) write(out io.Writer) error {
	w := factory.Table{Numbers: 2}
	share := ""
	if r.Window > 0 {
		share = "window"
	}
	line := func(name, tier string, bytes, tokens int) {
		w.Row("  "+name, tier, bytes, tokens, r.share(tokens))
	}
	w.Row("System prompt ("+r.Platform+")", "", "bytes", "tokens", share)
	for _, s := range r.System.Sections {
		line(s.Name, s.Tier, s.Bytes, s.Tokens)
	}
	line("total", "", r.System.Bytes, r.System.Tokens)
	w.Row()
	w.Row(fmt.Sprintf("Tools (%d)", r.Tools.Count))
	list := slices.Clone(r.Tools.Tools)
	order.By(list, func(a, b tool) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, t := range list {
		line(t.Name, "", t.Bytes, t.Tokens)
	}
	line("total", "", r.Tools.Bytes, r.Tools.Tokens)
	err := w.Print(out)
	fmt.Fprintf(out, "\nEvery request begins with %d bytes, about %d tokens%s.\n%s", r.Total, r.Tokens, r.ofWindow(), r.money())
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "Note: %s.\n", warning)
	}
	return err
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
