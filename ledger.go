package hermes

import (
	"context"
	"fmt"
	"time"
)

// Ledger records what model calls cost and enforces the spending caps. Stores
// implement it. All methods may be called concurrently, also by several
// processes on one store, and return when their change is committed.
type Ledger interface {
	// Reserve books the estimate of a call on all its accounts, before the call
	// is made. If that would exceed a cap, it returns an *OverCap and books
	// nothing. It first releases reservations of other owners that expired.
	Reserve(ctx context.Context, b Booking) (Reserved, error)
	// Extend moves the expiry of a reservation and adds more to its estimate. If
	// that would exceed a cap of the limits, it returns an *OverCap and changes
	// nothing; without limits it only adds. A released reservation counts again;
	// a settled one does not change.
	Extend(ctx context.Context, id int64, until time.Time, more Amount, limits ...Limit) error
	// Settle replaces the estimate with what the call really cost, also if the
	// reservation was released. Settling again changes nothing.
	Settle(ctx context.Context, id int64, c Charge) error
	// Raise adds to the caps of an account; negative amounts lower them.
	Raise(ctx context.Context, a Account, by Amount) error
	// Balances returns the balances of accounts in the order given; an account
	// that was never used has zeros.
	Balances(ctx context.Context, accounts ...Account) ([]Balance, error)
	// Spent sums the calls of a period, the costliest group first.
	Spent(ctx context.Context, q SpendQuery) ([]Spending, error)
}

// AccountKind is what a cap applies to.
type AccountKind string

// The kinds of accounts, narrowest first.
const (
	AccountTurn    AccountKind = "turn"
	AccountSession AccountKind = "session"
	AccountJob     AccountKind = "job"
	// AccountBranch is a child session with its own children.
	AccountBranch AccountKind = "branch"
	// AccountTree is a session with all its children.
	AccountTree AccountKind = "tree"
	// AccountDay and AccountMonth are named like 2026-11-20 and 2026-11. Later
	// days and months also count towards an earlier one, so that setting the
	// clock back frees nothing.
	AccountDay   AccountKind = "day"
	AccountMonth AccountKind = "month"
)

// Account is a sum that calls count towards and that a cap may limit, such as
// that of a session or a day. The name of a turn's account is the session's id,
// a slash and its number.
type Account struct {
	Kind AccountKind
	Name string
}

// Scope says which accounts a call is booked on, beyond its session.
type Scope struct {
	Turn int64  // 0 means the turn of the newest message of the request
	Job  string // of a scheduled job
	// Tree is the session at the root of a tree of sub-agents; empty means the
	// session itself.
	Tree string
	// Call is set below the layer that keeps to the caps: the running call that
	// an attempt belongs to, a number of that layer; 0 elsewhere.
	Call int64
}

// Booking is a call to reserve money for before it is made.
type Booking struct {
	At      time.Time
	Owner   string    // the process
	Until   time.Time // when the reservation expires, if its owner is gone
	Session string
	Model   string
	Purpose string
	// Estimate is what the call may cost.
	Estimate Amount
	// Limits are the accounts to book on, each with its cap.
	Limits []Limit
	// WarnAt lists percentages of a cap, lowest first. If the booking makes an
	// account reach one for the first time, Reserved.Warnings reports it.
	WarnAt []int
}

// Limit is an account with its cap; a zero part of the cap means no limit.
type Limit struct {
	Account Account
	Cap     Amount
}

// Reserved is a booked estimate.
type Reserved struct {
	ID       int64
	Warnings []Warning
	// Left is the least that is left under the caps beyond the estimate. A part
	// that no cap limits is negative.
	Left Amount
}

// Warning reports that an account reached a percentage of its cap.
type Warning struct {
	Percent int
	Balance Balance
	Cap     Amount // including raises
}

// Charge is what a call really cost.
type Charge struct {
	Model string // the model that answered
	Usage Usage
	Money Money
	// Priced says that Money is known; if not, Money is 0 and the call counts
	// in tokens only.
	Priced bool
	// Estimated says that the service did not report the usage.
	Estimated bool
}

// Left returns what is left, as in [Reserved.Left], if this cap holds, too. The
// balance of its account includes the estimate.
func (l Limit) Left(left Amount, b Balance) Amount {
	total, used := l.Cap.Add(b.Raised), b.Used()
	if l.Cap.Money > 0 {
		if m := max(0, total.Money-used.Money); left.Money < 0 || m < left.Money {
			left.Money = m
		}
	}
	if l.Cap.Tokens > 0 {
		if n := max(0, total.Tokens-used.Tokens); left.Tokens < 0 || n < left.Tokens {
			left.Tokens = n
		}
	}
	return left
}

// Reached reports whether a balance has reached a percentage of the cap.
func (l Limit) Reached(b Balance, percent int) bool {
	total, used := l.Cap.Add(b.Raised), b.Used()
	// The products of large caps have no room in an integer.
	reached := func(used, total int64) bool { return float64(used)*100 >= float64(total)*float64(percent) }
	return l.Cap.Money > 0 && reached(int64(used.Money), int64(total.Money)) || l.Cap.Tokens > 0 && reached(used.Tokens, total.Tokens)
}

// Balance is the state of an account.
type Balance struct {
	Account  Account
	Spent    Amount // settled
	Reserved Amount // reserved by running calls
	Raised   Amount // added to its caps
	Calls    int64
	Unpriced int64 // calls of unknown price among them
}

// Used is the sum of Spent and Reserved.
func (b Balance) Used() Amount { return b.Spent.Add(b.Reserved) }

// OverCap is the error of a refused reservation. Cap includes raises.
type OverCap struct {
	Balance  Balance
	Cap      Amount
	Estimate Amount
	Tokens   bool // the token cap refused it, not the money cap
}

// Error names the cap and the amounts; the caller adds what to do.
func (e *OverCap) Error() string {
	a := e.Balance.Account
	if e.Tokens {
		return fmt.Sprintf("the cap of %s %s is %d tokens; %d are used and the call may use %d",
			a.Kind, a.Name, e.Cap.Tokens, e.Balance.Used().Tokens, e.Estimate.Tokens)
	}
	return fmt.Sprintf("the cap of %s %s is %v; %v is used and the call may cost %v",
		a.Kind, a.Name, e.Cap.Money, e.Balance.Used().Money, e.Estimate.Money)
}

// SpendQuery selects calls and says how to sum them. Zero fields do not narrow.
type SpendQuery struct {
	After, Before time.Time // made at or after After and before Before
	Session       string
	Platform      string // of the session
	By            SpendGroup
	Limit         int // number of groups; 0 means 100, negative means all
}

// SpendGroup says how calls are grouped; empty sums all of them.
type SpendGroup string

// The groups.
const (
	SpendByModel   SpendGroup = "model"
	SpendBySession SpendGroup = "session"
	SpendByPurpose SpendGroup = "purpose"
	SpendByDay     SpendGroup = "day"
)

// Spending is the sum of a group of calls. Calls counts the calls made;
// Usage.Calls counts those that were answered.
type Spending struct {
	Name      string
	Usage     Usage
	Money     Money
	Reserved  Amount // reserved by running calls
	Calls     int64
	Unpriced  int64
	Estimated int64
}
