package command

import (
	"context"
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/text"
)

// How much /insights lists; `hermes insights` lists all.
const (
	mostModels = 8
	mostTools  = 8
)

// insights summarizes the last days, 30 by default.
func insights(ctx context.Context, c *Call) (Result, error) {
	days, err := count(c.Args, 30)
	if err != nil {
		return Result{}, err
	}
	if c.Spend == nil {
		return Result{}, errNoSpend
	}
	a, costs, err := c.Spend.Active(ctx, days)
	if err != nil {
		return Result{}, err
	}
	var all hermes.Spending
	for _, g := range costs {
		all.Money += g.Money
		all.Unpriced += g.Unpriced
	}
	var b strings.Builder
	fmt.Fprintf(&b, "In the last %s: %s, %s, %s, %s tokens, %s.\n", text.Plural(days, "day", "days"), text.Plural(int(a.Sessions), "session", "sessions"), text.Plural(int(a.Turns), "turn", "turns"), text.Plural(int(a.Calls), "tool call", "tool calls"), text.Tokens(a.Usage.Total()), money(all))
	if len(costs) > 0 {
		b.WriteString("\n| model | calls | tokens | cost |\n|---|---:|---:|---:|\n")
	}
	for i, g := range costs {
		if i == mostModels {
			break
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |\n", code(g.Name), g.Calls, text.Tokens(g.Usage.Total()), money(g))
	}
	if len(a.Tools) > 0 {
		b.WriteString("\n| tool | calls | failed |\n|---|---:|---:|\n")
	}
	for i, t := range a.Tools {
		if i == mostTools {
			break
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", code(t.Name), t.Calls, t.Failed)
	}
	return Result{Text: b.String()}, nil
}

// money writes the known cost.
func money(g hermes.Spending) string {
	switch {
	case g.Unpriced == 0:
		return g.Money.String()
	case g.Money == 0:
		return "cost unknown"
	}
	return fmt.Sprintf("more than %v", g.Money)
}
