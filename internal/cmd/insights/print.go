package insights

import (
	"errors"
	"fmt"
	"io"
	"time"

	"hermes/internal/cmd/factory"
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
	var all, sources, models, tools factory.Table
	all.Row()
	all.Row("  sessions", r.Sessions)
	all.Row("  turns", r.Turns)
	all.Row("  messages", r.Messages)
	all.Row("  tool calls", r.Calls)
	all.Row("  tokens", text.Tokens(r.Tokens))
	all.Row("    input", text.Tokens(r.Usage.Input))
	all.Row("    from cache", text.Tokens(r.Usage.CacheRead))
	all.Row("    to cache", text.Tokens(r.Usage.CacheWrite))
	all.Row("    output", text.Tokens(r.Usage.Output))
	all.Row("  cost", cost(r.Cost, r.Unpriced))
	all.Row()
	sources.Row("By source", "sessions", "share")
	for _, s := range r.Platforms {
		sources.Row("  "+s.Name, s.Sessions, percent(s.Share))
	}
	sources.Row()
	models.Row("By model", "tokens", "share", "cost")
	for _, m := range r.Models {
		models.Row("  "+m.Name, text.Tokens(m.Tokens), percent(m.Share), cost(m.Cost, m.Unpriced))
	}
	models.Row()
	tools.Row("Tools", "calls", "share", "failed")
	for i, t := range r.Tools {
		if i == mostTools {
			tools.Row(fmt.Sprintf("  … and %d more", len(r.Tools)-mostTools))
			break
		}
		tools.Row("  "+t.Name, t.Calls, percent(t.Share), t.Failed)
	}
	return errors.Join(all.Print(out), sources.Print(out), models.Print(out), tools.Print(out))
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
