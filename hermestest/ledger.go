package hermestest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hermes"
)

var _ hermes.Ledger = (*Ledger)(nil)

// Ledger is a [hermes.Ledger] in memory that keeps the whole contract, except
// that it cannot query by platform.
type Ledger struct {
	// Fail, if set, is called before every write with the name of the method;
	// its error fails the write. Set it before use.
	Fail func(method string) error

	mu       sync.Mutex
	calls    []*bookedCall // the id is the index plus one
	accounts map[hermes.Account]*bookedAccount
}

type bookedCall struct {
	hermes.Booking
	state  callState
	charge hermes.Charge
}

type callState int

const (
	callOpen callState = iota
	callSettled
	callReleased
)

type bookedAccount struct {
	hermes.Balance
	warned int
}

// NewLedger returns an empty ledger.
func NewLedger() *Ledger { return &Ledger{accounts: map[hermes.Account]*bookedAccount{}} }

func (l *Ledger) begin(ctx context.Context, method string) (end func(), err error) {
	l.mu.Lock()
	if err := ctx.Err(); err != nil {
		l.mu.Unlock()
		return nil, err
	}
	if l.Fail != nil {
		if err := l.Fail(method); err != nil {
			l.mu.Unlock()
			return nil, err
		}
	}
	return l.mu.Unlock, nil
}

func (l *Ledger) account(a hermes.Account) *bookedAccount {
	if l.accounts[a] == nil {
		l.accounts[a] = &bookedAccount{Balance: hermes.Balance{Account: a}}
	}
	return l.accounts[a]
}

// balance returns the balance of an account. Later days and months count too.
func (l *Ledger) balance(a hermes.Account) (sum bookedAccount) {
	sum.Account = a
	ahead := a.Kind == hermes.AccountDay || a.Kind == hermes.AccountMonth
	for _, other := range l.accounts {
		o := other.Account
		if o.Kind != a.Kind || o.Name != a.Name && (!ahead || o.Name < a.Name) {
			continue
		}
		sum.Spent, sum.Reserved, sum.Raised = sum.Spent.Add(other.Spent), sum.Reserved.Add(other.Reserved), sum.Raised.Add(other.Raised)
		sum.Calls += other.Calls
		sum.Unpriced += other.Unpriced
		sum.warned = max(sum.warned, other.warned)
	}
	return sum
}

// Reserve books the estimate of a call, or refuses it.
func (l *Ledger) Reserve(ctx context.Context, b hermes.Booking) (hermes.Reserved, error) {
	end, err := l.begin(ctx, "Reserve")
	if err != nil {
		return hermes.Reserved{}, err
	}
	defer end()
	ahead := b.At.Add(2 * b.Until.Sub(b.At))
	for _, c := range l.calls {
		if c.state == callOpen && c.Owner != b.Owner && (!c.Until.After(b.At) || c.Until.After(ahead)) {
			l.hold(c, hermes.Amount{}.Sub(c.Estimate))
			c.state = callReleased
		}
	}
	for _, limit := range b.Limits {
		if err := l.fits(limit, b.Estimate); err != nil {
			return hermes.Reserved{}, err
		}
	}
	c := &bookedCall{Booking: b}
	l.calls = append(l.calls, c)
	l.hold(c, b.Estimate)
	done := hermes.Reserved{ID: int64(len(l.calls)), Left: hermes.Amount{Money: -1, Tokens: -1}}
	for _, limit := range b.Limits {
		done.Left = limit.Left(done.Left, l.balance(limit.Account).Balance)
		if w, ok := l.warn(limit, b.WarnAt); ok {
			done.Warnings = append(done.Warnings, w)
		}
	}
	return done, nil
}

func (l *Ledger) hold(c *bookedCall, by hermes.Amount) {
	for _, limit := range c.Limits {
		a := l.account(limit.Account)
		a.Reserved = a.Reserved.Add(by)
	}
}

func (l *Ledger) fits(limit hermes.Limit, estimate hermes.Amount) error {
	b := l.balance(limit.Account)
	total, after := limit.Cap.Add(b.Raised), b.Used().Add(estimate)
	over := &hermes.OverCap{Balance: b.Balance, Cap: total, Estimate: estimate}
	if limit.Cap.Money > 0 && estimate.Money > 0 && after.Money > total.Money {
		return over
	}
	if limit.Cap.Tokens > 0 && after.Tokens > total.Tokens {
		over.Tokens = true
		return over
	}
	return nil
}

func (l *Ledger) warn(limit hermes.Limit, percents []int) (hermes.Warning, bool) {
	b := l.balance(limit.Account)
	total, crossed := limit.Cap.Add(b.Raised), 0
	for _, p := range percents {
		if limit.Reached(b.Balance, p) {
			crossed = max(crossed, p)
		}
	}
	if crossed <= b.warned {
		return hermes.Warning{}, false
	}
	l.account(limit.Account).warned = crossed
	return hermes.Warning{Percent: crossed, Balance: b.Balance, Cap: total}, true
}

func (l *Ledger) call(id int64) (*bookedCall, error) {
	if id < 1 || id > int64(len(l.calls)) {
		return nil, fmt.Errorf("reservation %d: %w", id, hermes.ErrNotFound)
	}
	return l.calls[id-1], nil
}

// Extend moves the expiry of a reservation and adds to it, or refuses to. A
// released one counts again.
func (l *Ledger) Extend(ctx context.Context, id int64, until time.Time, more hermes.Amount, limits ...hermes.Limit) error {
	end, err := l.begin(ctx, "Extend")
	if err != nil {
		return err
	}
	defer end()
	c, err := l.call(id)
	if err != nil || c.state == callSettled {
		return err
	}
	added := more
	if c.state == callReleased {
		added = added.Add(c.Estimate)
	}
	for _, limit := range limits {
		if err := l.fits(limit, added); err != nil {
			return err
		}
	}
	l.hold(c, added)
	c.state, c.Until, c.Estimate = callOpen, until, c.Estimate.Add(more)
	return nil
}

// Settle replaces the estimate of a call with its real cost.
func (l *Ledger) Settle(ctx context.Context, id int64, charge hermes.Charge) error {
	end, err := l.begin(ctx, "Settle")
	if err != nil {
		return err
	}
	defer end()
	c, err := l.call(id)
	if err != nil || c.state == callSettled {
		return err
	}
	if c.state == callOpen {
		l.hold(c, hermes.Amount{}.Sub(c.Estimate))
	}
	charge.Model = cmp.Or(charge.Model, c.Model)
	c.state, c.charge = callSettled, charge
	for _, limit := range c.Limits {
		a := l.account(limit.Account)
		a.Spent = a.Spent.Add(hermes.Amount{Money: charge.Money, Tokens: charge.Usage.Total()})
		a.Calls++
		if !charge.Priced {
			a.Unpriced++
		}
	}
	return nil
}

// Raise adds to the caps of an account.
func (l *Ledger) Raise(ctx context.Context, a hermes.Account, by hermes.Amount) error {
	end, err := l.begin(ctx, "Raise")
	if err != nil {
		return err
	}
	defer end()
	b := l.account(a)
	b.Raised, b.warned = b.Raised.Add(by), 0
	return nil
}

// Balances returns the balances of accounts.
func (l *Ledger) Balances(ctx context.Context, accounts ...hermes.Account) ([]hermes.Balance, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]hermes.Balance, len(accounts))
	for i, a := range accounts {
		list[i] = l.balance(a).Balance
	}
	return list, ctx.Err()
}

// Spent sums the calls of a period.
func (l *Ledger) Spent(ctx context.Context, q hermes.SpendQuery) ([]hermes.Spending, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	groups := map[string]*hermes.Spending{}
	for _, c := range l.calls {
		if c.At.Before(q.After) || !q.Before.IsZero() && !c.At.Before(q.Before) || q.Session != "" && c.Session != q.Session {
			continue
		}
		name, err := c.group(q.By)
		if err != nil {
			return nil, err
		}
		if groups[name] == nil {
			groups[name] = &hermes.Spending{Name: name}
		}
		c.sum(groups[name])
	}
	list := make([]hermes.Spending, 0, len(groups))
	for _, g := range groups {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b hermes.Spending) int {
		return cmp.Or(cmp.Compare(b.Money, a.Money), cmp.Compare(b.Usage.Total(), a.Usage.Total()), cmp.Compare(a.Name, b.Name))
	})
	if limit := cmp.Or(q.Limit, 100); limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list, ctx.Err()
}

func (c *bookedCall) group(by hermes.SpendGroup) (string, error) {
	switch by {
	case "":
		return "", nil
	case hermes.SpendByModel:
		return cmp.Or(c.charge.Model, c.Model), nil
	case hermes.SpendBySession:
		return c.Session, nil
	case hermes.SpendByPurpose:
		return c.Purpose, nil
	case hermes.SpendByDay:
		i := slices.IndexFunc(c.Limits, func(l hermes.Limit) bool { return l.Account.Kind == hermes.AccountDay })
		if i < 0 {
			return "", nil
		}
		return c.Limits[i].Account.Name, nil
	}
	return "", fmt.Errorf("calls cannot be summed by %q", by)
}

func (c *bookedCall) sum(g *hermes.Spending) {
	g.Calls++
	switch c.state {
	case callOpen:
		g.Reserved = g.Reserved.Add(c.Estimate)
	case callSettled:
		g.Usage = g.Usage.Add(c.charge.Usage)
		g.Money += c.charge.Money
		if !c.charge.Priced {
			g.Unpriced++
		}
		if c.charge.Estimated {
			g.Estimated++
		}
	}
}
