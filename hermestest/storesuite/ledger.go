package storesuite

import (
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"hermes"
)

// RunLedger is the contract suite of [hermes.Ledger]. open returns an empty
// ledger and closes it when the test ends. No case waits for a clock.
func RunLedger(t *testing.T, open func(t *testing.T) hermes.Ledger) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(*testing.T, hermes.Ledger)
	}{
		{"an estimate is reserved and then settled", ledgerSettles},
		{"settling twice counts once", ledgerSettlesOnce},
		{"a cap refuses what would exceed it and books nothing", ledgerRefuses},
		{"a cap in tokens", ledgerTokens},
		{"free calls pass a cap in money", ledgerFree},
		{"each account has its cap", ledgerAccounts},
		{"raising", ledgerRaises},
		{"warnings come once each", ledgerWarns},
		{"a reservation of an ended process is released in time", ledgerReleases},
		{"the owner's own reservations are not released", ledgerKeepsOwn},
		{"a released reservation can be settled", ledgerSettlesReleased},
		{"extending", ledgerExtends},
		{"extending adds to the estimate as far as the caps allow", ledgerGrows},
		{"what is left under the caps", ledgerLeft},
		{"a cap near the limit of its type", ledgerHuge},
		{"later days count towards earlier ones", ledgerClockBack},
		{"a reservation of a clock far ahead is released", ledgerClockAhead},
		{"concurrent callers do not exceed a cap together", ledgerParallel},
		{"sums by group", ledgerSums},
		{"unknown reservations", ledgerUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, open(t))
		})
	}
}

// hold is how long the suite's reservations are valid.
const hold = time.Hour

// cent is an amount of so many cents and as many tokens.
func cent(n int64) hermes.Amount { return hermes.Amount{Money: hermes.Money(n * 10_000), Tokens: n} }

// booking reserves cents of session "s", whose cap is 100 cents, on the day of
// the suite.
func booking(cents int64) hermes.Booking {
	return hermes.Booking{
		At: day, Until: day.Add(hold), Owner: "me", Session: "s", Model: "p:m", Estimate: cent(cents),
		Limits: []hermes.Limit{
			{Account: hermes.Account{Kind: hermes.AccountSession, Name: "s"}, Cap: hermes.Amount{Money: cent(100).Money}},
			{Account: hermes.Account{Kind: hermes.AccountDay, Name: "2026-11-20"}},
		},
		WarnAt: []int{50, 75, 90},
	}
}

func charge(cents int64) hermes.Charge {
	return hermes.Charge{Usage: hermes.Usage{Input: cents, Calls: 1}, Money: cent(cents).Money, Priced: true}
}

func reserve(t *testing.T, l hermes.Ledger, b hermes.Booking) hermes.Reserved {
	t.Helper()
	r, err := l.Reserve(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func settle(t *testing.T, l hermes.Ledger, id, cents int64) {
	t.Helper()
	if err := l.Settle(t.Context(), id, charge(cents)); err != nil {
		t.Fatal(err)
	}
}

func spend(t *testing.T, l hermes.Ledger, cents int64) {
	t.Helper()
	settle(t, l, reserve(t, l, booking(cents)).ID, cents)
}

func refused(t *testing.T, l hermes.Ledger, b hermes.Booking) *hermes.OverCap {
	t.Helper()
	_, err := l.Reserve(t.Context(), b)
	over, ok := errors.AsType[*hermes.OverCap](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return over
}

func balanceOf(t *testing.T, l hermes.Ledger, kind hermes.AccountKind, name string) hermes.Balance {
	t.Helper()
	list, err := l.Balances(t.Context(), hermes.Account{Kind: kind, Name: name})
	if err != nil || len(list) != 1 {
		t.Fatalf("got %v, %v", list, err)
	}
	return list[0]
}

func sessionBalance(t *testing.T, l hermes.Ledger) hermes.Balance {
	t.Helper()
	return balanceOf(t, l, hermes.AccountSession, "s")
}

func ledgerSettles(t *testing.T, l hermes.Ledger) {
	r := reserve(t, l, booking(30))
	account := hermes.Account{Kind: hermes.AccountSession, Name: "s"}
	same(t, sessionBalance(t, l), hermes.Balance{Account: account, Reserved: cent(30)})
	settle(t, l, r.ID, 20)
	same(t, sessionBalance(t, l), hermes.Balance{Account: account, Spent: cent(20), Calls: 1})
	same(t, balanceOf(t, l, hermes.AccountDay, "2026-11-20").Spent, cent(20))
	same(t, balanceOf(t, l, hermes.AccountTurn, "never used"), hermes.Balance{Account: hermes.Account{Kind: hermes.AccountTurn, Name: "never used"}})
}

func ledgerSettlesOnce(t *testing.T, l hermes.Ledger) {
	r := reserve(t, l, booking(30))
	settle(t, l, r.ID, 20)
	settle(t, l, r.ID, 25)
	same(t, sessionBalance(t, l).Spent, cent(20))
	if err := l.Extend(t.Context(), r.ID, day.Add(2*hold), hermes.Amount{}); err != nil {
		t.Error(err)
	}
	same(t, sessionBalance(t, l).Reserved, hermes.Amount{})
}

func ledgerRefuses(t *testing.T, l hermes.Ledger) {
	spend(t, l, 60)
	reserve(t, l, booking(30))
	over := refused(t, l, booking(11))
	same(t, over.Balance.Spent, cent(60))
	same(t, over.Balance.Reserved, cent(30))
	same(t, over.Cap.Money, cent(100).Money)
	same(t, over.Estimate, cent(11))
	same(t, sessionBalance(t, l).Reserved, cent(30))
	same(t, balanceOf(t, l, hermes.AccountDay, "2026-11-20").Reserved, cent(30))
	reserve(t, l, booking(10)) // just fits
}

func ledgerTokens(t *testing.T, l hermes.Ledger) {
	b := booking(60)
	b.Limits[0].Cap = hermes.Amount{Tokens: 100}
	reserve(t, l, b)
	if over := refused(t, l, b); !over.Tokens {
		t.Errorf("the refusal does not say that the token cap refused: %+v", over)
	}
}

func ledgerFree(t *testing.T, l hermes.Ledger) {
	spend(t, l, 100)
	free := booking(0)
	free.Estimate.Tokens = 1_000_000
	reserve(t, l, free)
}

func ledgerAccounts(t *testing.T, l hermes.Ledger) {
	b := booking(40)
	b.Limits[1].Cap = hermes.Amount{Money: cent(70).Money}
	reserve(t, l, b)
	if over := refused(t, l, b); over.Balance.Account.Kind != hermes.AccountDay {
		t.Errorf("the account that refused is %v", over.Balance.Account)
	}
	b.Limits = b.Limits[:1]
	reserve(t, l, b)
}

func ledgerRaises(t *testing.T, l hermes.Ledger) {
	spend(t, l, 100)
	refused(t, l, booking(20))
	account := hermes.Account{Kind: hermes.AccountSession, Name: "s"}
	if err := l.Raise(t.Context(), account, hermes.Amount{Money: cent(20).Money}); err != nil {
		t.Fatal(err)
	}
	spend(t, l, 20)
	over := refused(t, l, booking(1))
	same(t, over.Cap.Money, cent(120).Money)
	same(t, sessionBalance(t, l).Raised.Money, cent(20).Money)
}

func ledgerWarns(t *testing.T, l hermes.Ledger) {
	var got []int
	for range 20 {
		r := reserve(t, l, booking(5))
		settle(t, l, r.ID, 5)
		for _, w := range r.Warnings {
			got = append(got, w.Percent)
			if w.Balance.Account.Kind != hermes.AccountSession {
				t.Errorf("an account without a cap warns: %+v", w)
			}
		}
	}
	same(t, got, []int{50, 75, 90})
}

func ledgerReleases(t *testing.T, l hermes.Ledger) {
	reserve(t, l, booking(80))
	other := booking(30)
	other.Owner = "you"
	other.At, other.Until = day.Add(hold-time.Second), day.Add(2*hold)
	refused(t, l, other)
	other.At = day.Add(hold)
	reserve(t, l, other)
	same(t, sessionBalance(t, l).Reserved, cent(30))
}

func ledgerKeepsOwn(t *testing.T, l hermes.Ledger) {
	reserve(t, l, booking(80))
	late := booking(30)
	late.At, late.Until = day.Add(10*hold), day.Add(11*hold)
	refused(t, l, late)
}

// release lets another process make an empty booking long after a reservation.
func release(t *testing.T, l hermes.Ledger) {
	t.Helper()
	other := booking(0)
	other.Owner, other.At, other.Until = "you", day.Add(10*hold), day.Add(11*hold)
	reserve(t, l, other)
	same(t, sessionBalance(t, l).Reserved, hermes.Amount{})
}

func ledgerSettlesReleased(t *testing.T, l hermes.Ledger) {
	r := reserve(t, l, booking(80))
	release(t, l)
	settle(t, l, r.ID, 70)
	settle(t, l, r.ID, 70)
	b := sessionBalance(t, l)
	same(t, []hermes.Amount{b.Spent, b.Reserved}, []hermes.Amount{cent(70), {}})
}

func ledgerExtends(t *testing.T, l hermes.Ledger) {
	r := reserve(t, l, booking(80))
	release(t, l)
	if err := l.Extend(t.Context(), r.ID, day.Add(20*hold), hermes.Amount{}); err != nil {
		t.Fatal(err)
	}
	same(t, sessionBalance(t, l).Reserved, cent(80))
	other := booking(30)
	other.Owner, other.At, other.Until = "you", day.Add(19*hold), day.Add(20*hold)
	refused(t, l, other)
	settle(t, l, r.ID, 10)
	b := sessionBalance(t, l)
	same(t, []hermes.Amount{b.Spent, b.Reserved}, []hermes.Amount{cent(10), {}})
}

func ledgerGrows(t *testing.T, l hermes.Ledger) {
	b := booking(40)
	r := reserve(t, l, b)
	reserve(t, l, booking(30))
	if err := l.Extend(t.Context(), r.ID, day.Add(hold), cent(20), b.Limits...); err != nil {
		t.Fatal(err)
	}
	same(t, sessionBalance(t, l).Reserved, cent(90))
	err := l.Extend(t.Context(), r.ID, day.Add(hold), cent(11), b.Limits...)
	over, ok := errors.AsType[*hermes.OverCap](err)
	if !ok || over.Balance.Reserved != cent(90) || over.Cap.Money != cent(100).Money {
		t.Errorf("got %v, want a refusal", err)
	}
	same(t, sessionBalance(t, l).Reserved, cent(90))
	if err := l.Extend(t.Context(), r.ID, day.Add(hold), cent(10), b.Limits...); err != nil {
		t.Fatal(err)
	}
	settle(t, l, r.ID, 5)
	balance := sessionBalance(t, l)
	same(t, []hermes.Amount{balance.Spent, balance.Reserved}, []hermes.Amount{cent(5), cent(30)})
}

func ledgerLeft(t *testing.T, l hermes.Ledger) {
	b := booking(40)
	same(t, reserve(t, l, b).Left, hermes.Amount{Money: cent(60).Money, Tokens: -1})
	b.Limits[1].Cap = hermes.Amount{Money: cent(85).Money, Tokens: 200}
	same(t, reserve(t, l, b).Left, hermes.Amount{Money: cent(5).Money, Tokens: 120})
	b.Limits = []hermes.Limit{{Account: hermes.Account{Kind: hermes.AccountMonth, Name: "2026-11"}}}
	same(t, reserve(t, l, b).Left, hermes.Amount{Money: -1, Tokens: -1})
}

// ledgerHuge has caps whose sums and products do not fit in their type.
func ledgerHuge(t *testing.T, l hermes.Ledger) {
	const most = math.MaxInt64
	huge := booking(10)
	huge.Limits[0].Cap, huge.WarnAt = hermes.Amount{Money: most, Tokens: most - 1}, []int{1, 50}
	if err := l.Raise(t.Context(), huge.Limits[0].Account, cent(50)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := reserve(t, l, huge)
		if err := l.Extend(t.Context(), r.ID, day.Add(hold), cent(1), huge.Limits...); err != nil || len(r.Warnings) > 0 || r.Left.Money < most/2 || r.Left.Tokens < most/2 {
			t.Errorf("got %+v, %v", r, err)
		}
	}
	// A hundred times what is used does not fit either.
	huge.Estimate = hermes.Amount{Money: most / 40, Tokens: most / 40}
	if r := reserve(t, l, huge); len(r.Warnings) != 1 || r.Warnings[0].Percent != 1 {
		t.Errorf("got %+v", r.Warnings)
	}
}

func onDay(b hermes.Booking, name string) hermes.Booking {
	b.Limits = []hermes.Limit{{Account: hermes.Account{Kind: hermes.AccountDay, Name: name}, Cap: hermes.Amount{Money: cent(100).Money}}}
	return b
}

func ledgerClockBack(t *testing.T, l hermes.Ledger) {
	settle(t, l, reserve(t, l, onDay(booking(90), "2026-11-20")).ID, 90)
	refused(t, l, onDay(booking(20), "2026-11-19"))
	reserve(t, l, onDay(booking(20), "2026-11-21"))
	same(t, balanceOf(t, l, hermes.AccountDay, "2026-11-20").Spent, cent(90))
	same(t, balanceOf(t, l, hermes.AccountDay, "2026-11-21").Spent, hermes.Amount{})
}

func ledgerClockAhead(t *testing.T, l hermes.Ledger) {
	ahead := booking(80)
	ahead.Owner, ahead.At, ahead.Until = "you", day.Add(1000*hold), day.Add(1001*hold)
	reserve(t, l, ahead)
	reserve(t, l, booking(80))
}

func ledgerParallel(t *testing.T, l hermes.Ledger) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				r, err := l.Reserve(t.Context(), booking(3))
				if err != nil {
					if _, ok := errors.AsType[*hermes.OverCap](err); !ok {
						t.Error(err)
					}
					return
				}
				if err := l.Settle(t.Context(), r.ID, charge(3)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	b := sessionBalance(t, l)
	same(t, []hermes.Amount{b.Spent, b.Reserved}, []hermes.Amount{cent(99), {}})
	same(t, b.Calls, int64(33))
}

func ledgerSums(t *testing.T, l hermes.Ledger) {
	for i, model := range []string{"p:a", "p:b", "p:b"} {
		b := booking(10)
		b.Model, b.At = model, day.Add(time.Duration(i)*time.Minute)
		r := reserve(t, l, b)
		c := charge(10)
		c.Estimated, c.Priced = i == 1, i != 2
		if !c.Priced {
			c.Money = 0
		}
		if i == 0 {
			c.Model = "p:fallback"
		}
		if err := l.Settle(t.Context(), r.ID, c); err != nil {
			t.Fatal(err)
		}
	}
	reserve(t, l, booking(5))
	sums := func(q hermes.SpendQuery) []hermes.Spending {
		t.Helper()
		list, err := l.Spent(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	ten := hermes.Usage{Input: 10, Calls: 1}
	same(t, sums(hermes.SpendQuery{By: hermes.SpendByModel}), []hermes.Spending{
		{Name: "p:b", Usage: ten.Add(ten), Money: cent(10).Money, Calls: 2, Unpriced: 1, Estimated: 1},
		{Name: "p:fallback", Usage: ten, Money: cent(10).Money, Calls: 1},
		{Name: "p:m", Reserved: cent(5), Calls: 1},
	})
	same(t, sums(hermes.SpendQuery{}), []hermes.Spending{
		{Usage: hermes.Usage{Input: 30, Calls: 3}, Money: cent(20).Money, Reserved: cent(5), Calls: 4, Unpriced: 1, Estimated: 1},
	})
	same(t, sums(hermes.SpendQuery{By: hermes.SpendByDay, After: day.Add(2 * time.Minute)}), []hermes.Spending{{Name: "2026-11-20", Usage: ten, Calls: 1, Unpriced: 1}})
	same(t, sums(hermes.SpendQuery{By: hermes.SpendBySession, Before: day.Add(time.Minute), Session: "s"}),
		[]hermes.Spending{{Name: "s", Usage: ten, Money: cent(10).Money, Reserved: cent(5), Calls: 2}})
	same(t, len(sums(hermes.SpendQuery{Session: "another"})), 0)
	same(t, len(sums(hermes.SpendQuery{By: hermes.SpendByModel, Limit: 1})), 1)
	if _, err := l.Spent(t.Context(), hermes.SpendQuery{By: "weather"}); err == nil {
		t.Error("calls are summed by an unknown group")
	}
}

func ledgerUnknown(t *testing.T, l hermes.Ledger) {
	wantErr(t, l.Settle(t.Context(), 4711, charge(1)), hermes.ErrNotFound)
	wantErr(t, l.Extend(t.Context(), 4711, day, hermes.Amount{}), hermes.ErrNotFound)
}
