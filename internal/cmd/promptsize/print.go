package promptsize

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"hermes"
)

// write prints the report for a person, the largest tools first.
func (r report) write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	share := "\t"
	if r.Window > 0 {
		share = " window\t"
	}
	line := func(name, tier string, bytes, tokens int) {
		fmt.Fprintf(w, "  %s\t%s\t%7d\t%7d\t%s\n", name, tier, bytes, tokens, r.share(tokens))
	}
	fmt.Fprintf(w, "System prompt (%s)\t\t  bytes\t tokens\t%s\n", r.Platform, share)
	for _, s := range r.System.Sections {
		line(s.Name, s.Tier, s.Bytes, s.Tokens)
	}
	line("in all", "", r.System.Bytes, r.System.Tokens)
	fmt.Fprintf(w, "\nTools (%d)\t\t\t\t\n", r.Tools.Count)
	list := slices.Clone(r.Tools.Tools)
	slices.SortStableFunc(list, func(a, b tool) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, t := range list {
		line(t.Name, "", t.Bytes, t.Tokens)
	}
	line("in all", "", r.Tools.Bytes, r.Tools.Tokens)
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nEvery request begins with %d bytes, about %d tokens%s.\n%s", r.Total, r.Tokens, r.ofWindow(), r.money())
	for _, warning := range r.Warnings {
		fmt.Fprintf(out, "Note: %s.\n", warning)
	}
	return err
}

// share is a part of the window in percent, "" if that is not known.
func (r report) share(tokens int) string {
	switch {
	case r.Window <= 0:
		return ""
	case tokens*100 < r.Window:
		return "   <1 %"
	}
	return fmt.Sprintf("%5d %%", tokens*100/r.Window)
}

func (r report) ofWindow() string {
	if r.Window <= 0 {
		return ""
	}
	return fmt.Sprintf(", %d %% of the window of %s (%d)", r.Tokens*100/r.Window, r.Model, r.Window)
}

// money is a sentence on what the beginning of a request costs.
func (r report) money() string {
	switch {
	case r.Model == "":
		return ""
	case r.Fresh == nil:
		return fmt.Sprintf("The price of %s is not known.\n", r.Model)
	case *r.Fresh == 0:
		return fmt.Sprintf("%s costs nothing here.\n", r.Model)
	case r.Cached == nil:
		return fmt.Sprintf("That costs %v with %s; what it costs from the cache is not known.\n", hermes.USD(*r.Fresh), r.Model)
	}
	return fmt.Sprintf("That costs %v with %s, and %v where it is read from the cache.\n", hermes.USD(*r.Fresh), r.Model, hermes.USD(*r.Cached))
}
