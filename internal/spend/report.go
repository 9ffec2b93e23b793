package spend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hermes"
)

// Line is the state of one cap.
type Line struct {
	Balance hermes.Balance
	// Cap includes what it was raised by; a zero part means no cap.
	Cap  hermes.Amount
	Name string    // the account in plain words: "today"
	Ends time.Time // the end of the window; zero if there is none
}

// Percent is how much of the cap is used: the greater of money and tokens, or
// -1 without a cap.
func (l Line) Percent() int64 {
	used, percent := l.Balance.Used(), int64(-1)
	if l.Cap.Money > 0 {
		percent = share(int64(used.Money), int64(l.Cap.Money))
	}
	if l.Cap.Tokens > 0 {
		percent = max(percent, share(used.Tokens, l.Cap.Tokens))
	}
	return percent
}

// share returns a part in percent. A product of large amounts has no room in an
// integer.
func share(part, whole int64) int64 { return int64(float64(part) * 100 / float64(whole)) }

// Kinds are the kinds of accounts, narrowest first.
func Kinds() []hermes.AccountKind {
	return []hermes.AccountKind{hermes.AccountTurn, hermes.AccountSession, hermes.AccountTree, hermes.AccountJob, hermes.AccountDay, hermes.AccountMonth}
}

// Status returns the state of the accounts of a session; only of the day and the
// month if session is empty. turn 0 omits the turn.
func (g *Governor) Status(ctx context.Context, session string, turn int64) ([]Line, error) {
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	limits := g.limits(ctx, &hermes.Request{Session: session, Scope: hermes.Scope{Turn: turn}})
	accounts := make([]hermes.Account, len(limits))
	for i, l := range limits {
		accounts[i] = l.Account
	}
	balances, err := ledger.Balances(ctx, accounts...)
	if err != nil {
		return nil, err
	}
	now := g.cfg.Now()
	lines := make([]Line, len(limits))
	for i, l := range limits {
		lines[i] = Line{Balance: balances[i], Cap: raised(l.Cap, balances[i].Raised), Name: nameOf(l.Account.Kind), Ends: g.ends(l.Account.Kind, now)}
	}
	return lines, nil
}

// raised adds to the parts of a cap that are set.
func raised(cap, by hermes.Amount) hermes.Amount {
	all := cap.Add(by)
	if cap.Money == 0 {
		all.Money = 0
	}
	if cap.Tokens == 0 {
		all.Tokens = 0
	}
	return all
}

// Raise raises the cap of one of the session's accounts; day and month need no
// session. name is for jobs. If there is no such cap, it fails with a text for
// the user.
func (g *Governor) Raise(ctx context.Context, session, name string, kind hermes.AccountKind, by hermes.Amount) error {
	cap := g.cfg.Caps[kind]
	switch {
	case !slices.Contains(Kinds(), kind):
		return fmt.Errorf("there is no cap on %q; use turn, session, tree, job, day or month", kind)
	case by.Money != 0 && cap.Money == 0:
		return fmt.Errorf("no money cap is set for %s; set one with `hermes config set spend.%s.usd AMOUNT`", nameOf(kind), kind)
	case by.Tokens != 0 && cap.Tokens == 0:
		return fmt.Errorf("no token cap is set for %s; set one with `hermes config set spend.%s.tokens NUMBER`", nameOf(kind), kind)
	}
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return err
	}
	if name != "" {
		return ledger.Raise(ctx, hermes.Account{Kind: kind, Name: name}, by)
	}
	for _, l := range g.limits(ctx, &hermes.Request{Session: session}) {
		if l.Account.Kind == kind {
			return ledger.Raise(ctx, l.Account, by)
		}
	}
	return fmt.Errorf("nothing was spent for %s yet", nameOf(kind))
}

// Cost returns the total cost of a session.
func (g *Governor) Cost(ctx context.Context, session string) (hermes.Spending, error) {
	list, err := g.Spent(ctx, hermes.SpendQuery{Session: session})
	if err != nil || len(list) == 0 {
		return hermes.Spending{}, err
	}
	return list[0], nil
}

// CostOf returns what a session has spent for some purposes, and whether all prices are
// known.
func (g *Governor) CostOf(ctx context.Context, session string, purposes ...string) (cost hermes.Money, known bool) {
	list, err := g.Spent(ctx, hermes.SpendQuery{Session: session, By: hermes.SpendByPurpose})
	if err != nil {
		return 0, false
	}
	known = true
	for _, s := range list {
		if slices.Contains(purposes, s.Name) {
			cost += s.Money
			known = known && s.Unpriced == 0
		}
	}
	return cost, known
}

// TurnCost returns the cost of one turn. It is unknown if nothing was recorded or
// if the price of a call is unknown.
func (g *Governor) TurnCost(ctx context.Context, session string, turn int64) (cost hermes.Money, known bool) {
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return 0, false
	}
	list, err := ledger.Balances(ctx, hermes.Account{Kind: hermes.AccountTurn, Name: turnName(session, turn)})
	if err != nil || list[0].Calls == 0 {
		return 0, false
	}
	return list[0].Spent.Money, list[0].Unpriced == 0
}

// Spent sums up the calls of a period.
func (g *Governor) Spent(ctx context.Context, q hermes.SpendQuery) ([]hermes.Spending, error) {
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return nil, err
	}
	return ledger.Spent(ctx, q)
}

// Midnight returns the start of the day a number of days ago; 0 is today.
func (g *Governor) Midnight(daysAgo int) time.Time {
	t := g.cfg.Now().In(g.cfg.Location)
	return time.Date(t.Year(), t.Month(), t.Day()-daysAgo, 0, 0, 0, 0, g.cfg.Location)
}

// ParseAmount reads an amount as users write it: "5", "$2.50", "0.5 usd",
// "200k tokens", "1.5M". A plain number is dollars; k and M are tokens.
func ParseAmount(text string) (hermes.Amount, error) {
	s := strings.ToLower(strings.TrimSpace(text))
	s, isTokens := strings.CutSuffix(strings.TrimSuffix(s, "s"), "token")
	s = strings.TrimSpace(s)
	number, unit := s, 1.0
	for suffix, times := range map[string]float64{"k": 1e3, "m": 1e6} {
		if n, ok := strings.CutSuffix(s, suffix); ok {
			number, unit, isTokens = n, times, true
		}
	}
	number = strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(number, "$"), "dollar"), "usd"))
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || x != x || x > 1e9 || x < -1e9 || x == 0 {
		return hermes.Amount{}, errNoAmount(text)
	}
	if isTokens {
		return hermes.Amount{Tokens: int64(x * unit)}, nil
	}
	return hermes.Amount{Money: hermes.USD(x)}, nil
}

func errNoAmount(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("say by how much, such as 5 (dollars) or 200k tokens")
	}
	return fmt.Errorf("%q is not an amount; write 5 (dollars), 0.50, or 200k tokens", text)
}

// Active returns what was done in the last days, and what it cost by model. If
// the ledger records only money, the first result is empty.
func (g *Governor) Active(ctx context.Context, days int) (hermes.Active, []hermes.Spending, error) {
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return hermes.Active{}, nil, err
	}
	since := g.cfg.Now().Add(-time.Duration(days) * 24 * time.Hour)
	costs, err := ledger.Spent(ctx, hermes.SpendQuery{After: since, By: hermes.SpendByModel, Limit: -1})
	if err != nil {
		return hermes.Active{}, nil, err
	}
	store, ok := ledger.(hermes.Activity)
	if !ok {
		return hermes.Active{}, costs, nil
	}
	active, err := store.Activity(ctx, since, "")
	return active, costs, err
}
