package spend

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"hermes"
	"hermes/internal/cmd/factory"
	"hermes/internal/order"
	"hermes/internal/spend"
	"hermes/internal/text"
)

// write prints the report as text.
func (r report) write(out io.Writer) error {
	var caps, costs factory.Table
	caps.Row("Caps", "used", "cap")
	capped := false
	for _, l := range r.lines {
		capped = capped || l.Percent() >= 0
		caps.Row("  "+l.Name, used(l), limit(l), percent(l), until(l))
	}
	if err := caps.Print(out); err != nil {
		return err
	}
	if !capped {
		fmt.Fprintln(out, "\nNo caps are set. Set one with: hermes config set spend.day.usd 10")
	}
	fmt.Fprintln(out)
	costs.Row("Since "+r.Since.Format(time.DateOnly), "calls", "tokens", "cost")
	if r.By == string(hermes.SpendByDay) {
		order.By(r.groups, func(a, b hermes.Spending) int { return cmp.Compare(b.Name, a.Name) })
	}
	for _, g := range r.groups {
		costs.Row("  "+name(r.By, g.Name), g.Calls, text.Tokens(g.Usage.Total()), cost(g))
	}
	costs.Row("  total", r.total.Calls, text.Tokens(r.total.Usage.Total()), cost(r.total))
	if err := costs.Print(out); err != nil {
		return err
	}
	if n := r.total.Unpriced; n > 0 {
		fmt.Fprintf(out, "\nThe cost does not include %s without a known price. Set prices under spend.prices in config.yaml.\n", text.Plural(n, "call", "calls"))
	}
	if n := r.total.Estimated; n > 0 {
		fmt.Fprintf(out, "\nThe usage of %s is estimated, since the service did not report it.\n", text.Plural(n, "call", "calls"))
	}
	return nil
}

func name(by, group string) string {
	switch {
	case group != "":
		return group
	case by == string(hermes.SpendByPurpose):
		return "conversation"
	}
	return "(none)"
}

func used(l spend.Line) string {
	u := l.Balance.Used()
	if l.Cap.Tokens > 0 && l.Cap.Money == 0 {
		return text.Tokens(u.Tokens)
	}
	return u.Money.String()
}

func limit(l spend.Line) string {
	switch {
	case l.Cap.Money > 0 && l.Cap.Tokens > 0:
		return fmt.Sprintf("%v, %s tokens", l.Cap.Money, text.Tokens(l.Cap.Tokens))
	case l.Cap.Money > 0:
		return l.Cap.Money.String()
	case l.Cap.Tokens > 0:
		return text.Tokens(l.Cap.Tokens) + " tokens"
	}
	return "none"
}

func percent(l spend.Line) string {
	if p := l.Percent(); p >= 0 {
		return fmt.Sprintf("%d %%", p)
	}
	return ""
}

func until(l spend.Line) string {
	if l.Ends.IsZero() {
		return ""
	}
	return "until " + l.Ends.Format("2006-01-02 15:04")
}

// cost formats the cost of calls, some of which may have no known price.
func cost(g hermes.Spending) string {
	switch {
	case g.Unpriced == 0:
		return g.Money.String()
	case g.Money == 0:
		return "unknown"
	}
	return "more than " + g.Money.String()
}

// What --json prints, with money in US dollars.
type (
	reportJSON struct {
		Since  time.Time   `json:"since"`
		Days   int         `json:"days"`
		Caps   []capJSON   `json:"caps"`
		Total  groupJSON   `json:"total"`
		By     string      `json:"by"`
		Groups []groupJSON `json:"groups"`
	}
	capJSON struct {
		Kind         hermes.AccountKind `json:"kind"`
		Name         string             `json:"name"`
		UsedUSD      float64            `json:"used_usd"`
		UsedTokens   int64              `json:"used_tokens"`
		HeldUSD      float64            `json:"held_usd"`
		HeldTokens   int64              `json:"held_tokens"`
		CapUSD       *float64           `json:"cap_usd"`
		CapTokens    *int64             `json:"cap_tokens"`
		RaisedUSD    float64            `json:"raised_usd,omitempty"`
		RaisedTokens int64              `json:"raised_tokens,omitempty"`
		Ends         time.Time          `json:"ends,omitzero"`
	}
	groupJSON struct {
		Name      string       `json:"name,omitempty"`
		Calls     int64        `json:"calls"`
		Usage     hermes.Usage `json:"usage"`
		Tokens    int64        `json:"tokens"`
		CostUSD   float64      `json:"cost_usd"`
		HeldUSD   float64      `json:"held_usd,omitempty"`
		Unpriced  int64        `json:"unpriced_calls,omitempty"`
		Estimated int64        `json:"estimated_calls,omitempty"`
	}
)

func (r report) writeJSON(out io.Writer) error {
	j := reportJSON{Since: r.Since, Days: r.Days, By: r.By, Caps: []capJSON{}, Groups: []groupJSON{}, Total: toGroup(r.total)}
	for _, l := range r.lines {
		b := l.Balance
		c := capJSON{Kind: b.Account.Kind, Name: b.Account.Name, UsedUSD: b.Used().Money.Dollars(), UsedTokens: b.Used().Tokens,
			HeldUSD: b.Reserved.Money.Dollars(), HeldTokens: b.Reserved.Tokens, RaisedUSD: b.Raised.Money.Dollars(), RaisedTokens: b.Raised.Tokens, Ends: l.Ends}
		if l.Cap.Money > 0 {
			c.CapUSD = new(l.Cap.Money.Dollars())
		}
		if l.Cap.Tokens > 0 {
			c.CapTokens = new(l.Cap.Tokens)
		}
		j.Caps = append(j.Caps, c)
	}
	for _, g := range r.groups {
		j.Groups = append(j.Groups, toGroup(g))
	}
	return factory.WriteJSON(out, j)
}

func toGroup(g hermes.Spending) groupJSON {
	return groupJSON{Name: g.Name, Calls: g.Calls, Usage: g.Usage, Tokens: g.Usage.Total(), CostUSD: g.Money.Dollars(),
		HeldUSD: g.Reserved.Money.Dollars(), Unpriced: g.Unpriced, Estimated: g.Estimated}
}
