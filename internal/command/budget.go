package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/spend"
	"hermes/internal/text"
)

// Spend reports costs and raises caps. *spend.Governor implements it.
type Spend interface {
	Status(ctx context.Context, session string, turn int64) ([]spend.Line, error)
	Raise(ctx context.Context, session, name string, kind hermes.AccountKind, by hermes.Amount) error
	Cost(ctx context.Context, session string) (hermes.Spending, error)
	Price(model string) (p hermes.Price, ok bool)
	Active(ctx context.Context, days int) (hermes.Active, []hermes.Spending, error)
}

var _ Spend = (*spend.Governor)(nil)

var errNoSpend = errors.New("spending is not tracked here")

// budget shows the caps of the session and what was spent, or raises a cap.
func budget(ctx context.Context, c *Call) (Result, error) {
	if c.Spend == nil {
		return Result{}, errNoSpend
	}
	verb, rest, _ := strings.Cut(c.Args, " ")
	switch strings.ToLower(verb) {
	case "":
		return showBudget(ctx, c)
	case "raise":
		return raiseBudget(ctx, c, strings.TrimSpace(rest))
	}
	return Result{}, fmt.Errorf("unknown argument %q for /budget; use /budget or /budget raise session 5", verb)
}

func showBudget(ctx context.Context, c *Call) (Result, error) {
	lines, err := c.Spend.Status(ctx, c.Session.ID(), 0)
	if err != nil {
		return Result{}, err
	}
	var b strings.Builder
	b.WriteString("| spent on | money | tokens | cap | |\n|---|---:|---:|---:|---:|\n")
	capped := false
	for _, l := range lines {
		used, full := l.Balance.Used(), ""
		if p := l.Percent(); p >= 0 {
			capped, full = true, fmt.Sprintf("%d %%", p)
		}
		money := used.Money.String()
		if l.Balance.Unpriced > 0 {
			money += " plus calls without a known price"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", l.Name, money, text.Tokens(used.Tokens), limit(l), full)
	}
	if capped {
		b.WriteString("\nRaise a cap with `/budget raise session 5`.")
	} else {
		b.WriteString("\nNo cap is set. Set one with `hermes config set spend.session.usd 5`. You can cap a turn, session, tree (a session with its sub-agents), day or month, in usd or tokens.")
	}
	return Result{Text: b.String()}, nil
}

func limit(l spend.Line) string {
	var parts []string
	if l.Cap.Money > 0 {
		parts = append(parts, l.Cap.Money.String())
	}
	if l.Cap.Tokens > 0 {
		parts = append(parts, text.Tokens(l.Cap.Tokens)+" tokens")
	}
	return strings.Join(parts, ", ")
}

// raiseBudget reads "session 5", "day 200k tokens", or "5" for the session.
func raiseBudget(ctx context.Context, c *Call, args string) (Result, error) {
	kind := hermes.AccountSession
	word, rest, _ := strings.Cut(args, " ")
	if k := hermes.AccountKind(strings.ToLower(word)); slices.Contains(spend.Kinds(), k) {
		kind, args = k, rest
	}
	by, err := spend.ParseAmount(args)
	if err != nil {
		return Result{}, err
	}
	if err := c.Spend.Raise(ctx, c.Session.ID(), "", kind, by); err != nil {
		return Result{}, err
	}
	return showBudget(ctx, c)
}

// sessionCost is a row of /usage: the known cost of the session.
func sessionCost(ctx context.Context, c *Call) string {
	if c.Spend == nil {
		return ""
	}
	s, err := c.Spend.Cost(ctx, c.Session.ID())
	switch {
	case err != nil || s.Calls == 0 || s.Unpriced > 0 && s.Money == 0:
		return ""
	case s.Unpriced > 0:
		return fmt.Sprintf("more than %v", s.Money)
	}
	return s.Money.String()
}
