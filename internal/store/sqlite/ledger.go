package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hermes"
)

var (
	_ hermes.Ledger   = (*Store)(nil)
	_ hermes.Activity = (*Store)(nil)
)

// The states of a call in the ledger.
const (
	callOpen = iota
	callSettled
	callReleased
)

// maxRelease limits the reservations that one booking releases.
const maxRelease = 64

// ledgerAge is how long calls and unused accounts are kept.
const ledgerAge = 400 * 24 * time.Hour

// Reserve books the estimate of a call, or refuses it with an *OverCap. It checks and
// books in one transaction, so that concurrent callers cannot exceed a cap together.
func (s *Store) Reserve(ctx context.Context, b hermes.Booking) (hermes.Reserved, error) {
	var done hermes.Reserved
	err := s.update(ctx, func(t *tx) error {
		done = hermes.Reserved{Left: hermes.Amount{Money: -1, Tokens: -1}} // a transaction may run twice
		if err := t.releaseOverdue(b); err != nil {
			return err
		}
		for _, l := range b.Limits {
			if err := t.fits(l, b.Estimate); err != nil {
				return err
			}
		}
		for _, l := range b.Limits {
			if err := t.hold(l.Account, b); err != nil {
				return err
			}
			w, err := t.warn(l, b.WarnAt)
			if err != nil {
				return err
			}
			if done.Left, err = t.left(done.Left, l); err != nil {
				return err
			}
			if w != nil {
				done.Warnings = append(done.Warnings, *w)
			}
		}
		var err error
		done.ID, err = t.reserve(b)
		return err
	})
	if err != nil {
		return hermes.Reserved{}, err
	}
	return done, nil
}

// fits refuses an estimate that does not fit under a cap.
func (t *tx) fits(l hermes.Limit, estimate hermes.Amount) error {
	if l.Cap == (hermes.Amount{}) {
		return nil
	}
	b, _, err := t.balance(l.Account)
	if err != nil {
		return err
	}
	total, over := l.Cap.Add(b.Raised), hermes.OverCap{Balance: b, Cap: l.Cap.Add(b.Raised), Estimate: estimate}
	after := b.Used().Add(estimate)
	if l.Cap.Money > 0 && after.Money > total.Money && estimate.Money > 0 {
		return &over
	}
	if l.Cap.Tokens > 0 && after.Tokens > total.Tokens {
		over.Tokens = true
		return &over
	}
	return nil
}

// left returns what is left if this cap holds, too.
func (t *tx) left(left hermes.Amount, l hermes.Limit) (hermes.Amount, error) {
	if l.Cap == (hermes.Amount{}) {
		return left, nil
	}
	b, _, err := t.balance(l.Account)
	return l.Left(left, b), err
}

// hold adds an estimate to the reserved amount of an account.
func (t *tx) hold(a hermes.Account, b hermes.Booking) error {
	made, err := t.result(`INSERT INTO spend_accounts (kind, name, held_money, held_tokens, touched) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		string(a.Kind), a.Name, int64(b.Estimate.Money), b.Estimate.Tokens, nanos(b.At))
	if err != nil {
		return err
	}
	n, err := made.RowsAffected()
	if err != nil {
		return err
	}
	if n > 0 {
		return t.forget(a, b)
	}
	return t.exec(`UPDATE spend_accounts SET held_money = held_money + ?, held_tokens = held_tokens + ?, touched = ? WHERE kind = ? AND name = ?`,
		int64(b.Estimate.Money), b.Estimate.Tokens, nanos(b.At), string(a.Kind), a.Name)
}

// forget removes old rows when an account is new: accounts of earlier turns of the
// same session and, once a day, calls and accounts past ledgerAge.
func (t *tx) forget(a hermes.Account, b hermes.Booking) error {
	switch a.Kind {
	case hermes.AccountTurn: // '0' follows '/'
		return t.exec(`DELETE FROM spend_accounts WHERE kind = 'turn' AND name > ? AND name < ? AND name <> ? AND held_money = 0 AND held_tokens = 0`,
			b.Session+"/", b.Session+"0", a.Name)
	case hermes.AccountDay:
		old := nanos(b.At.Add(-ledgerAge))
		if err := t.exec(`DELETE FROM spend WHERE at < ? AND state <> 0`, old); err != nil {
			return err
		}
		return t.exec(`DELETE FROM spend_accounts WHERE touched < ? AND held_money = 0 AND held_tokens = 0`, old)
	}
	return nil
}

// warn records, once, that an account has crossed a percentage of its cap.
func (t *tx) warn(l hermes.Limit, percents []int) (*hermes.Warning, error) {
	if l.Cap == (hermes.Amount{}) || len(percents) == 0 {
		return nil, nil
	}
	b, warned, err := t.balance(l.Account)
	if err != nil {
		return nil, err
	}
	total, crossed := l.Cap.Add(b.Raised), 0
	for _, p := range percents {
		if p > crossed && l.Reached(b, p) {
			crossed = p
		}
	}
	if crossed <= warned {
		return nil, nil
	}
	err = t.exec(`UPDATE spend_accounts SET warned = ? WHERE kind = ? AND name = ?`, crossed, string(l.Account.Kind), l.Account.Name)
	return &hermes.Warning{Percent: crossed, Balance: b, Cap: total}, err
}

func (t *tx) reserve(b hermes.Booking) (int64, error) {
	day := ""
	accounts := make([][2]string, len(b.Limits))
	for i, l := range b.Limits {
		accounts[i] = [2]string{string(l.Account.Kind), l.Account.Name}
		if l.Account.Kind == hermes.AccountDay {
			day = l.Account.Name
		}
	}
	names, err := marshal(accounts)
	if err != nil {
		return 0, err
	}
	done, err := t.result(`INSERT INTO spend (at, state, owner, until, session, model, purpose, day, accounts, money, tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		nanos(b.At), callOpen, b.Owner, nanos(b.Until), b.Session, b.Model, b.Purpose, day, names, int64(b.Estimate.Money), b.Estimate.Tokens)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// releaseOverdue releases reservations of processes that have ended. A reservation
// from far in the future came from a clock that was ahead.
func (t *tx) releaseOverdue(b hermes.Booking) error {
	hold := b.Until.Sub(b.At)
	for range maxRelease {
		var id int64
		err := t.row(`SELECT id FROM spend WHERE state = 0 AND owner <> ? AND (until <= ? OR until > ?) LIMIT 1`,
			[]any{b.Owner, nanos(b.At), nanos(b.At.Add(2 * hold))}, &id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		c, err := t.call(id)
		if err != nil {
			return err
		}
		if err := t.move(c.accounts, hermes.Amount{}.Sub(c.estimate)); err != nil {
			return err
		}
		if err := t.exec(`UPDATE spend SET state = ? WHERE id = ?`, callReleased, id); err != nil {
			return err
		}
	}
	return nil
}

// ledgerCall is a call as stored in the ledger.
type ledgerCall struct {
	state    int
	estimate hermes.Amount
	accounts [][2]string
}

func (t *tx) call(id int64) (ledgerCall, error) {
	var c ledgerCall
	var names string
	err := t.row(`SELECT state, money, tokens, accounts FROM spend WHERE id = ?`, []any{id}, &c.state, &c.estimate.Money, &c.estimate.Tokens, &names)
	if errors.Is(err, sql.ErrNoRows) {
		return c, fmt.Errorf("reservation %d: %w", id, hermes.ErrNotFound)
	}
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal([]byte(names), &c.accounts)
}

// move adds to the reserved amounts of accounts.
func (t *tx) move(accounts [][2]string, by hermes.Amount) error {
	if by == (hermes.Amount{}) {
		return nil
	}
	for _, a := range accounts {
		err := t.exec(`UPDATE spend_accounts SET held_money = held_money + ?, held_tokens = held_tokens + ? WHERE kind = ? AND name = ?`,
			int64(by.Money), by.Tokens, a[0], a[1])
		if err != nil {
			return err
		}
	}
	return nil
}

// Extend prolongs a reservation and adds to it, or refuses to with an *OverCap. It
// books the reservation again if it was released.
func (s *Store) Extend(ctx context.Context, id int64, until time.Time, more hermes.Amount, limits ...hermes.Limit) error {
	return s.update(ctx, func(t *tx) error {
		c, err := t.call(id)
		if err != nil || c.state == callSettled {
			return err
		}
		added := more
		if c.state == callReleased {
			added = added.Add(c.estimate)
		}
		for _, l := range limits {
			if err := t.fits(l, added); err != nil {
				return err
			}
		}
		if err := t.move(c.accounts, added); err != nil {
			return err
		}
		return t.exec(`UPDATE spend SET state = ?, until = ?, money = money + ?, tokens = tokens + ? WHERE id = ?`,
			callOpen, nanos(until), int64(more.Money), more.Tokens, id)
	})
}

// Settle replaces the estimate of a call by its actual cost.
func (s *Store) Settle(ctx context.Context, id int64, charge hermes.Charge) error {
	return s.update(ctx, func(t *tx) error {
		c, err := t.call(id)
		if err != nil || c.state == callSettled {
			return err
		}
		if c.state == callOpen {
			if err := t.move(c.accounts, hermes.Amount{}.Sub(c.estimate)); err != nil {
				return err
			}
		}
		u := charge.Usage
		for _, a := range c.accounts {
			err := t.exec(`UPDATE spend_accounts SET money = money + ?, tokens = tokens + ?, calls = calls + 1, unpriced = unpriced + ? WHERE kind = ? AND name = ?`,
				int64(charge.Money), u.Total(), !charge.Priced, a[0], a[1])
			if err != nil {
				return err
			}
		}
		return t.exec(`UPDATE spend SET state = ?, model = coalesce(nullif(?, ''), model), money = ?, tokens = ?,
			input = ?, output = ?, cache_read = ?, cache_write = ?, reasoning = ?, requests = ?, unpriced = ?, estimated = ? WHERE id = ?`,
			callSettled, charge.Model, int64(charge.Money), u.Total(),
			u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.Calls, !charge.Priced, charge.Estimated, id)
	})
}

// Raise adds to the caps of an account and resets its warnings.
func (s *Store) Raise(ctx context.Context, a hermes.Account, by hermes.Amount) error {
	return s.update(ctx, func(t *tx) error {
		return t.exec(`INSERT INTO spend_accounts (kind, name, raised_money, raised_tokens, touched) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET raised_money = raised_money + excluded.raised_money,
			raised_tokens = raised_tokens + excluded.raised_tokens, warned = 0, touched = excluded.touched`,
			string(a.Kind), a.Name, int64(by.Money), by.Tokens, nanos(s.cfg.Now()))
	})
}
