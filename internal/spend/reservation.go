package spend

import (
	"context"
	"time"

	"hermes"
)

// reservation is what the ledger holds for one attempt. It grows with the answer,
// so that concurrent calls cannot exceed a cap together.
type reservation struct {
	c     *call
	id    int64
	model string
	guess guess
	held  hermes.Amount
	left  hermes.Amount // what the caps had left beyond it, negative without a cap
	until time.Time
}

// reserve books the estimate of an attempt. It returns nil if the call is not in
// the ledger, and an error if the attempt must not be made.
func (c *call) reserve(ctx context.Context, model string) (*reservation, error) {
	g := c.g
	now := g.cfg.Now()
	r := &reservation{c: c, model: model, guess: c.estimate(ctx, model), until: now.Add(g.cfg.ReservationTTL)}
	r.held = r.guess.amount
	b := hermes.Booking{
		At: now, Until: r.until, Owner: g.cfg.Owner, Session: c.request.Session, Model: model, Purpose: c.request.Purpose,
		Estimate: r.held, Limits: c.limits,
	}
	if c.noticesShown() {
		b.WarnAt = g.cfg.WarnAt
	}
	done, err := c.ledger.Reserve(ctx, b)
	if over := overCap(err); over != nil {
		return nil, c.refuse(over, false)
	}
	if err != nil {
		c.ledger = nil
		return nil, c.unbooked(ctx, err)
	}
	r.id, r.left = done.ID, done.Left
	if !r.guess.priced && len(b.WarnAt) > 0 {
		c.told = append(c.told, g.unpriced(model)...)
	}
	var said hermes.Warning
	for _, w := range done.Warnings {
		if w.Balance.Account.Kind == hermes.AccountTree && w.Cap == said.Cap && w.Balance.Used() == said.Balance.Used() {
			continue // a session without children: it would repeat the warning
		}
		c.told, said = append(c.told, warningText(w)), w
	}
	return r, nil
}

// serve makes the reservation fit another model than the one it was made for.
func (r *reservation) serve(ctx context.Context, model string) error {
	if r.model == model {
		return nil
	}
	r.model, r.guess = model, r.c.estimate(ctx, model)
	return r.cover(ctx, r.guess.amount, hermes.Amount{})
}

// cover makes the reservation hold at least an amount, and if the caps allow it
// some more. It returns an error if a cap has no room for the amount.
func (r *reservation) cover(ctx context.Context, amount, spare hermes.Amount) error {
	need := amount.Sub(r.held)
	need.Money, need.Tokens = max(need.Money, 0), max(need.Tokens, 0)
	if need == (hermes.Amount{}) {
		return nil
	}
	more := need.Add(spare)
	for range 2*len(r.c.limits) + 1 { // each time another cap may refuse
		until := r.c.g.cfg.Now().Add(r.c.g.cfg.ReservationTTL)
		err := r.c.ledger.Extend(ctx, r.id, until, more, r.c.limits...)
		over := overCap(err)
		switch {
		case err == nil:
			r.held, r.until = r.held.Add(more), until
			return nil
		case over == nil:
			return r.c.unbooked(ctx, err)
		}
		left := over.Cap.Sub(over.Balance.Used())
		if over.Tokens {
			more.Tokens = left.Tokens
		} else {
			more.Money = left.Money
		}
		if more.Tokens < need.Tokens || more.Money < need.Money {
			return r.c.refuse(over, true)
		}
	}
	return nil
}

// keep prolongs the reservation of a long answer.
func (r *reservation) keep(ctx context.Context) {
	g := r.c.g
	now := g.cfg.Now()
	if r.until.Sub(now) > g.cfg.ReservationTTL/2 {
		return
	}
	until := now.Add(g.cfg.ReservationTTL)
	if err := r.c.ledger.Extend(ctx, r.id, until, hermes.Amount{}); err != nil {
		g.cfg.Log.Warn("extend a reservation", "session", r.c.request.Session, "err", err)
		return
	}
	r.until = until
}

// settle replaces the estimate by what was spent, also when the context has ended.
func (r *reservation) settle(ctx context.Context, charge hermes.Charge) {
	if err := r.c.ledger.Settle(context.WithoutCancel(ctx), r.id, charge); err != nil {
		// The estimate stays reserved: better too much than too little.
		r.c.g.cfg.Log.Error("settle a model call", "session", r.c.request.Session, "model", r.model, "err", err)
	}
}
