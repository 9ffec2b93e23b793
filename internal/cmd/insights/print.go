package insights

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"hermes/internal/text"

	"hermes"
)

// mostTools limits the tools that are printed; JSON has all.
const mostTools = 20

// write prints the report as text.
func (r report) write(out io.Writer) error {
	from := ""
	if r.Platform != "" {
		from = " (" + r.Platform + ")"
	}
	fmt.Fprintf(out, "Since %s%s\n", r.Since.Local().Format(time.DateOnly), from)
	if r.Sessions == 0 && len(r.Models) == 0 {
		_, err := fmt.Fprintln(out, "\nNo activity in this time.")
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\n  sessions\t%d\n  turns\t%d\n  messages\t%d\n  tool calls\t%d\n  tokens\t%s\n", r.Sessions, r.Turns, r.Messages, r.Calls, text.Tokens(r.Tokens))
	fmt.Fprintf(w, "    input\t%s\n    from cache\t%s\n    to cache\t%s\n    output\t%s\n",
		text.Tokens(r.Usage.Input), text.Tokens(r.Usage.CacheRead), text.Tokens(r.Usage.CacheWrite), text.Tokens(r.Usage.Output))
	fmt.Fprintf(w, "  cost\t%s\n", cost(r.Cost, r.Unpriced))
	fmt.Fprint(w, "\nBy source\tsessions\tshare\n")
	for _, s := range r.Platforms {
		fmt.Fprintf(w, "  %s\t%d\t%s\n", s.Name, s.Sessions, percent(s.Share))
	}
	fmt.Fprint(w, "\nBy model\ttokens\tshare\tcost\n")
	for _, m := range r.Models {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", m.Name, text.Tokens(m.Tokens), percent(m.Share), cost(m.Cost, m.Unpriced))
	}
	fmt.Fprint(w, "\nTools\tcalls\tshare\tfailed\n")
	for i, t := range r.Tools {
		if i == mostTools {
			fmt.Fprintf(w, "  … and %d more\n", len(r.Tools)-mostTools)
			break
		}
		fmt.Fprintf(w, "  %s\t%d\t%s\t%d\n", t.Name, t.Calls, percent(t.Share), t.Failed)
	}
	return w.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

// cost formats the cost of calls, some of which may have no known price.
func cost(dollars float64, unpriced int64) string {
	money := hermes.USD(dollars).String()
	switch {
	case unpriced == 0:
		return money
	case dollars == 0:
		return "unknown"
	}
	return fmt.Sprintf("more than %s (%d calls without a known price)", money, unpriced)
}
