package spend

import (
	"context"
	"errors"
	"iter"
	"time"

	"hermes"
)

// Layer wraps a model so that each of its calls is booked.
func (g *Governor) Layer(next hermes.Model) hermes.Model { return &metered{Model: next, g: g} }

// metered is a model whose calls are booked.
type metered struct {
	hermes.Model
	g *Governor
}

// Stream reserves, passes the answer on, and settles however it ends. A call
// that would pass a cap is not made: it fails with a *hermes.ModelError of
// hermes.ClassBudget whose text is for the person.
func (m *metered) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		c, err := m.g.open(ctx, m.ID(), r)
		if err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		defer c.close(ctx)
		for _, text := range c.notices {
			if !yield(hermes.Delta{Notice: text}, nil) {
				return
			}
		}
		for d, err := range m.Model.Stream(ctx, r) {
			c.see(ctx, d, err)
			if !yield(d, err) {
				return
			}
		}
	}
}

// call is a booked call under way. It belongs to the goroutine that iterates.
type call struct {
	g       *Governor
	books   hermes.Ledger // nil: the call is not booked
	id      int64
	request *hermes.Request
	asked   string // the model
	guess   guess
	notices []string
	until   time.Time

	model    string // that answers
	usage    *hermes.Usage
	before   bill // of models that answered before another took over
	bytes    int  // of the answer
	finished bool
}

// open books a call, or says why it must not be made.
func (g *Governor) open(ctx context.Context, model string, r *hermes.Request) (*call, error) {
	c := &call{g: g, request: r, asked: model, model: model}
	books, err := g.books(ctx)
	if err != nil {
		return c, g.unbooked(ctx, err)
	}
	limits := g.limits(ctx, r)
	c.guess = g.estimate(ctx, books, model, r)
	now := g.cfg.Now()
	c.until = now.Add(g.cfg.ReservationTTL)
	b := hermes.Booking{
		At: now, Until: c.until, Owner: g.cfg.Owner, Session: r.Session, Model: model, Purpose: r.Purpose,
		Estimate: c.guess.amount, Limits: limits,
	}
	if g.noticesShown(r, limits) {
		b.WarnAt = g.cfg.WarnAt
	}
	done, err := books.Reserve(ctx, b)
	if over, ok := errors.AsType[*hermes.OverCap](err); ok {
		return nil, g.refusal(over, now)
	}
	if err != nil {
		return c, g.unbooked(ctx, err)
	}
	c.books, c.id = books, done.ID
	if !c.guess.priced && len(b.WarnAt) > 0 {
		c.notices = append(c.notices, g.unpriced(model)...)
	}
	var said hermes.Warning
	for _, w := range done.Warnings {
		if w.Balance.Account.Kind == hermes.AccountTree && w.Cap == said.Cap && w.Balance.Used() == said.Balance.Used() {
			continue // a session without children: the same said twice
		}
		c.notices, said = append(c.notices, warningText(w)), w
	}
	return c, nil
}

// noticesShown reports whether the person reads the notices of a call: those of side
// tasks and sub-agents reach nobody, so they must not use warnings up.
func (g *Governor) noticesShown(r *hermes.Request, limits []hermes.Limit) bool {
	if r.Purpose != "" {
		return false
	}
	for _, l := range limits {
		if l.Account.Kind == hermes.AccountTree {
			return l.Account.Name == r.Session
		}
	}
	return true
}

// unbooked decides about a call that could not be booked: without caps it is
// made all the same, with caps it must not be.
func (g *Governor) unbooked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !g.capped() {
		g.cfg.Log.Warn("a model call is not in the ledger", "err", err)
		return nil
	}
	return &hermes.ModelError{Class: hermes.ClassBudget, Err: err,
		Message: "a spend cap is set, and what is spent cannot be recorded now (" + err.Error() + "); no model is asked until it can"}
}

// see follows the answer, and keeps the reservation of a long one alive.
func (c *call) see(ctx context.Context, d hermes.Delta, err error) {
	if c.books == nil {
		return
	}
	switch {
	case err != nil:
	case d.Text != "":
		c.bytes += len(d.Text)
	case d.Reasoning != "":
		c.bytes += len(d.Reasoning)
	case d.Call != nil:
		c.bytes += len(d.Call.Name) + len(d.Call.Arguments)
	case d.Usage != nil:
		u := *d.Usage
		c.usage = &u
	case d.Reset != "":
		c.bytes = 0
	case d.Model != "" && d.Model != c.model:
		c.before = c.bill()
		c.model = d.Model
	case d.Finish != "":
		c.finished = true
	}
	now := c.g.cfg.Now()
	if c.until.Sub(now) > c.g.cfg.ReservationTTL/2 {
		return
	}
	until := now.Add(c.g.cfg.ReservationTTL)
	if err := c.books.Extend(ctx, c.id, until); err != nil {
		c.g.cfg.Log.Warn("keep a reservation", "session", c.request.Session, "err", err)
		return
	}
	c.until = until
}

// close settles the call, also when its context has ended.
func (c *call) close(ctx context.Context) {
	if c.books == nil {
		return
	}
	charge := c.charge()
	if err := c.books.Settle(context.WithoutCancel(ctx), c.id, charge); err != nil {
		// The estimate stays booked: too much rather than too little.
		c.g.cfg.Log.Error("settle a model call", "session", c.request.Session, "model", c.model, "err", err)
	}
	c.g.learn(c.asked, charge)
}

// charge is what the call cost: what the service counted or, where it did not
// count to the end, an estimate of what came.
func (c *call) charge() hermes.Charge {
	charge := hermes.Charge{Model: c.model}
	came := int64(c.bytes+3) / 4
	switch {
	case c.usage != nil:
		charge.Usage = *c.usage
		if !c.finished && charge.Usage.Output < came {
			charge.Usage.Output, charge.Estimated = came, true
		}
	case c.bytes > 0 || c.finished:
		charge.Usage = c.guess.usage
		charge.Usage.Output, charge.Usage.Calls, charge.Estimated = came, 1, true
	}
	c.usage = &charge.Usage
	b := c.bill()
	charge.Money, charge.Priced = b.money, !b.unpriced
	return charge
}

// bill is what some usage of a call costs.
type bill struct {
	usage    hermes.Usage
	money    hermes.Money
	unpriced bool
}

// bill adds what was used since another model took over, at the price of the
// one that answers now.
func (c *call) bill() bill {
	if c.usage == nil {
		return c.before
	}
	b := c.before
	since := hermes.Usage{
		Input: c.usage.Input - b.usage.Input, Output: c.usage.Output - b.usage.Output, CacheRead: c.usage.CacheRead - b.usage.CacheRead,
		CacheWrite: c.usage.CacheWrite - b.usage.CacheWrite, Reasoning: c.usage.Reasoning - b.usage.Reasoning, Calls: c.usage.Calls - b.usage.Calls,
	}
	money, known := c.g.cost(c.model, since)
	b.usage, b.money, b.unpriced = *c.usage, b.money+money, b.unpriced || !known
	return b
}
