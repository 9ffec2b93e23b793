package hermes

import (
	"context"
	"fmt"
	"time"
)

// Ledger keeps what model calls cost and holds them to their caps. Stores
// implement it. All methods may be called concurrently, from several processes
// on one store, and return when what they did is committed.
type Ledger interface {
	// Reserve books the estimate of a call against all its accounts before
	// the call is made, all or none. If that would exceed a cap it fails with
	// an *OverCap and books nothing. Reservations of other owners that were
	// neither settled nor extended in time are released first.
	Reserve(ctx context.Context, b Booking) (Reserved, error)
	// Extend keeps a reservation until a later time. One that was released
	// meanwhile counts again; one that was settled stays as it is.
	Extend(ctx context.Context, id int64, until time.Time) error
	// Settle puts what the call really cost in the place of its estimate, also
	// if the reservation was released. Settling again changes nothing.
	Settle(ctx context.Context, id int64, c Charge) error
	// Raise adds to the caps of an account; negative amounts take away.
	Raise(ctx context.Context, a Account, by Amount) error
	// Balances tells how accounts stand, in the order asked; one that was
	// never used is all zeros.
	Balances(ctx context.Context, accounts ...Account) ([]Balance, error)
	// Spent sums the calls of a time, the costliest group first.
	Spent(ctx context.Context, q SpendQuery) ([]Spending, error)
}

// AccountKind is what a cap is on.
type AccountKind string

// The kinds of accounts, narrowest first.
const (
	AccountTurn    AccountKind = "turn"
	AccountSession AccountKind = "session"
	AccountJob     AccountKind = "job"
	// AccountTree is a session with all its children.
	AccountTree AccountKind = "tree"
	// AccountDay and AccountMonth are named like 2026-11-20 and 2026-11. Those
	// with later names count towards an earlier one, so that a clock that is
	// put back frees nothing.
	AccountDay   AccountKind = "day"
	AccountMonth AccountKind = "month"
)

// Account is one thing that money is spent on. The name of a turn is its
// session's id, a slash and its number.
type Account struct {
	Kind AccountKind
	Name string
}

// Scope tells on whose account a call is made, beyond its session.
type Scope struct {
	Turn int64  // 0 is told by the newest message of the request
	Job  string // of a scheduled job
	// Tree is the session at the root of a tree of sub-agents; empty is the
	// session itself.
	Tree string
}

// Booking is a call that is about to be made.
type Booking struct {
	At      time.Time
	Owner   string    // the process
	Until   time.Time // when the reservation may be released, if its owner is gone
	Session string
	Model   string
	Purpose string
	// Estimate is what the call may cost.
	Estimate Amount
	// Limits are the accounts to book on, each with its cap.
	Limits []Limit
	// WarnAt are percentages of a cap, lowest first. Where the booking makes
	// an account cross one for the first time, it is in Reserved.Warnings.
	WarnAt []int
}

// Limit is an account with its cap; a zero part of the cap is none.
type Limit struct {
	Account Account
	Cap     Amount
}

// Reserved is a booked estimate.
type Reserved struct {
	ID       int64
	Warnings []Warning
}

// Warning tells that an account has reached a percentage of its cap.
type Warning struct {
	Percent int
	Balance Balance
	Cap     Amount // with what it was raised by
}

// Charge is what a call cost in the end.
type Charge struct {
	Model string // that answered
	Usage Usage
	Money Money
	// Priced says that Money is known; else it is 0 and the call counts in
	// tokens only.
	Priced bool
	// Estimated says that the service did not tell the usage.
	Estimated bool
}

// Balance is how an account stands.
type Balance struct {
	Account  Account
	Spent    Amount // settled
	Reserved Amount // reserved by calls under way
	Raised   Amount // added to its caps
	Calls    int64
	Unpriced int64 // calls among them whose price is not known
}

// Used is what was spent and what is reserved.
func (b Balance) Used() Amount { return b.Spent.Add(b.Reserved) }

// OverCap is the refusal of a reservation. Cap is with what it was raised by.
type OverCap struct {
	Balance  Balance
	Cap      Amount
	Estimate Amount
	Tokens   bool // the cap in tokens is the one in the way, not that in money
}

// Error says which cap and by how much, without a next step.
func (e *OverCap) Error() string {
	a := e.Balance.Account
	if e.Tokens {
		return fmt.Sprintf("the cap of %s %s is %d tokens; %d are used and the call may take %d",
			a.Kind, a.Name, e.Cap.Tokens, e.Balance.Used().Tokens, e.Estimate.Tokens)
	}
	return fmt.Sprintf("the cap of %s %s is %v; %v is used and the call may cost %v",
		a.Kind, a.Name, e.Cap.Money, e.Balance.Used().Money, e.Estimate.Money)
}

// SpendQuery picks calls and how to sum them. Zero fields do not narrow.
type SpendQuery struct {
	After, Before time.Time // made at or after, made before
	Session       string
	Platform      string // of the session
	By            SpendGroup
	Limit         int // groups; 0 is 100, negative is all
}

// SpendGroup says what calls are summed by; empty sums all of them.
type SpendGroup string

// The groups.
const (
	SpendByModel   SpendGroup = "model"
	SpendBySession SpendGroup = "session"
	SpendByPurpose SpendGroup = "purpose"
	SpendByDay     SpendGroup = "day"
)

// Spending is the sum of a group of calls. Usage.Calls counts what was
// answered; Calls counts what was asked.
type Spending struct {
	Name      string
	Usage     Usage
	Money     Money
	Reserved  Amount // reserved by calls under way
	Calls     int64
	Unpriced  int64
	Estimated int64
}
