package spend

import (
	"context"
	"errors"
	"iter"
	"time"

	"hermes"
)

// Layer wraps a model so that each of its calls is recorded in the ledger.
func (g *Governor) Layer(next hermes.Model) hermes.Model { return &metered{Model: next, g: g} }

// metered is a model whose calls are recorded in the ledger.
type metered struct {
	hermes.Model
	g *Governor
}

// Stream reserves an estimate, passes the answer on, and settles, whatever the
// outcome. A call that would exceed a cap is not made: it fails with a
// *hermes.ModelError of hermes.ClassBudget whose text is for the user.
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

// call is a running call with a reservation. It belongs to the goroutine that
// iterates.
type call struct {
	g       *Governor
	ledger  hermes.Ledger // nil: the call is not in the ledger
	id      int64
	request *hermes.Request
	asked   string // the model
	guess   guess
	notices []string
	until   time.Time

	model    string // the one that answers
	usage    *hermes.Usage
	before   bill // of the models before another took over
	bytes    int  // of the answer
	finished bool
}

// open reserves a call, or says why it must not be made.
func (g *Governor) open(ctx context.Context, model string, r *hermes.Request) (*call, error) {
	c := &call{g: g, request: r, asked: model, model: model}
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return c, g.unbooked(ctx, err)
	}
	limits := g.limits(ctx, r)
	c.guess = g.estimate(ctx, ledger, model, r)
	now := g.cfg.Now()
	c.until = now.Add(g.cfg.ReservationTTL)
	b := hermes.Booking{
		At: now, Until: c.until, Owner: g.cfg.Owner, Session: r.Session, Model: model, Purpose: r.Purpose,
		Estimate: c.guess.amount, Limits: limits,
	}
	if g.noticesShown(r, limits) {
		b.WarnAt = g.cfg.WarnAt
	}
	done, err := ledger.Reserve(ctx, b)
	if over, ok := errors.AsType[*hermes.OverCap](err); ok {
		return nil, g.refusal(over, now)
	}
	if err != nil {
		return c, g.unbooked(ctx, err)
	}
	c.ledger, c.id = ledger, done.ID
	if !c.guess.priced && len(b.WarnAt) > 0 {
		c.notices = append(c.notices, g.unpriced(model)...)
	}
	var said hermes.Warning
	for _, w := range done.Warnings {
		if w.Balance.Account.Kind == hermes.AccountTree && w.Cap == said.Cap && w.Balance.Used() == said.Balance.Used() {
			continue // a session without children: it would repeat the warning
		}
		c.notices, said = append(c.notices, warningText(w)), w
	}
	return c, nil
}

// noticesShown reports whether the user sees the notices of a call. Those of side
// tasks and sub-agents are not shown, so they must not use up warnings.
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

// unbooked decides about a call that could not be recorded: without caps it is
// made anyway, with caps it must not be.
func (g *Governor) unbooked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !g.capped() {
		g.cfg.Log.Warn("a model call is not in the ledger", "err", err)
		return nil
	}
	return &hermes.ModelError{Class: hermes.ClassBudget, Err: err,
		Message: "a spend cap is set but spending cannot be recorded (" + err.Error() + "), so model calls are blocked"}
}

// see follows the answer, and keeps the reservation of a long one alive.
func (c *call) see(ctx context.Context, d hermes.Delta, err error) {
	if c.ledger == nil {
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
	if err := c.ledger.Extend(ctx, c.id, until); err != nil {
		c.g.cfg.Log.Warn("extend a reservation", "session", c.request.Session, "err", err)
		return
	}
	c.until = until
}

// close settles the call, also when its context has ended.
func (c *call) close(ctx context.Context) {
	if c.ledger == nil {
		return
	}
	charge := c.charge()
	if err := c.ledger.Settle(context.WithoutCancel(ctx), c.id, charge); err != nil {
		// The estimate stays reserved: better too much than too little.
		c.g.cfg.Log.Error("settle a model call", "session", c.request.Session, "model", c.model, "err", err)
	}
	c.g.learn(c.asked, charge)
}

// charge returns what the call cost: the service's counts or, if they are
// incomplete, an estimate from what was received.
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

// bill is the cost of part of a call's usage.
type bill struct {
	usage    hermes.Usage
	money    hermes.Money
	unpriced bool
}

// bill adds the usage since another model took over, at the price of that model.
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
