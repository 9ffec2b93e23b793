package spend

import (
	"context"
	"errors"
	"iter"
	"math"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/tokens"
)

// Meter wraps the transport of a model so that each attempt is booked in the
// ledger at the price of that model: also one that fails, is repeated, or whose
// answer is discarded. It is the innermost layer of the chain. Below
// [Governor.Caps] it takes over the reservation for the first attempt, and makes
// one for each further attempt; without Caps it makes them all.
func (g *Governor) Meter(next hermes.Model) hermes.Model { return &metered{Model: next, g: g} }

// metered is a model whose calls are booked.
type metered struct {
	hermes.Model
	g *Governor
}

// Stream asks for no longer an answer than the caps allow, and ends one that
// passes them. Counts of the service that cannot be true are replaced by an
// estimate.
func (m *metered) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		c := m.g.running(r.Scope.Call)
		if c == nil {
			alone, err := m.g.open(ctx, m.ID(), r)
			if err != nil {
				yield(hermes.Delta{}, err)
				return
			}
			defer alone.close(ctx)
			c = alone
		}
		a, err := c.attempt(ctx, m.ID())
		if err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		defer a.close(ctx)
		for _, text := range c.notices() {
			if !yield(hermes.Delta{Notice: text}, nil) {
				return
			}
		}
		a.sent = true
		for d, err := range m.Model.Stream(ctx, a.request(r)) {
			d, shown := a.see(d, err)
			if shown && !yield(d, err) || err != nil {
				return
			}
			if err := a.check(ctx, d); err != nil {
				yield(hermes.Delta{}, err)
				return
			}
		}
		a.whole = true
	}
}

// attempt is one request to a service and its answer.
type attempt struct {
	c     *call
	r     *reservation // nil: it is not in the ledger
	model string
	price hermes.Price
	known bool // the price

	usage     *hermes.Usage // the service's counts
	stated    *hermes.Money // what the service says that it costs
	estimated bool          // a count of the service was replaced
	quarters  int           // of a token, of the answer so far
	err       error
	sent      bool
	whole     bool // the answer was read to its end
}

// attempt starts an attempt. It returns an error if a cap refuses it.
func (c *call) attempt(ctx context.Context, model string) (*attempt, error) {
	a := &attempt{c: c, model: model, r: c.first}
	c.first = nil
	if c.ledger == nil {
		return a, nil
	}
	var err error
	if a.r == nil {
		if a.r, err = c.reserve(ctx, model); err != nil {
			return nil, err
		}
	} else if err = a.r.serve(ctx, model); err != nil {
		a.close(ctx)
		return nil, err
	}
	a.price, a.known = c.g.cfg.Price(model)
	return a, nil
}

// request returns the request with a limit that keeps the answer under the caps.
func (a *attempt) request(r *hermes.Request) *hermes.Request {
	if a.r == nil {
		return r
	}
	room := a.room()
	if room < 0 || room >= a.c.g.longest(a.model, a.r.guess.usage.Prompt()) {
		return r
	}
	own := *r
	own.Ceiling = int(room)
	if r.MaxTokens <= 0 || int64(r.MaxTokens) > room {
		own.MaxTokens = int(room)
	}
	return &own
}

// leastAnswer is the lowest limit of an answer, in tokens. Services refuse less.
const leastAnswer = 16

// room returns how many tokens the answer may have under the caps, negative if
// they do not limit it.
func (a *attempt) room() int64 {
	room := int64(-1)
	prompt := a.r.guess.usage
	all := a.r.held.Add(a.r.left)
	if a.r.left.Tokens >= 0 {
		room = max(leastAnswer, all.Tokens-prompt.Total())
	}
	rate := a.price.For(prompt.Prompt()).Output
	if a.r.left.Money >= 0 && a.known && rate > 0 {
		cost, _ := a.price.AtMost(prompt, a.c.g.longCache(a.c.request))
		money := max(0, all.Money-cost)
		tokens := max(leastAnswer, int64(min(float64(money)*1e6/float64(rate), math.MaxInt32)))
		if room < 0 || tokens < room {
			room = tokens
		}
	}
	return room
}

// see follows the answer. It returns the delta to pass on, if it is one for the
// layers above.
func (a *attempt) see(d hermes.Delta, err error) (hermes.Delta, bool) {
	switch {
	case err != nil:
		a.err = err
	case d.Text != "":
		a.quarters += tokens.Quarters(d.Text)
	case d.Reasoning != "":
		a.quarters += tokens.Quarters(d.Reasoning)
	case d.Call != nil:
		a.quarters += tokens.Quarters(d.Call.Name) + tokens.Quarters(d.Call.Arguments)
	case d.Usage != nil:
		u := a.believe(*d.Usage)
		a.usage, d.Usage = &u, &u
	case d.Cost != nil:
		a.stated = d.Cost
		return d, false
	}
	return d, true
}

// came estimates how many tokens of the answer have come.
func (a *attempt) came() int64 { return int64(a.quarters+3) / 4 }

// growth is the part of a reservation that it grows by, so that it does not grow with every
// piece of an answer.
const growth = 4

// check makes the reservation cover the answer so far. It returns an error when
// the caps have no room for more.
func (a *attempt) check(ctx context.Context, d hermes.Delta) error {
	if a.r == nil {
		return nil
	}
	a.r.keep(ctx)
	if d.Text == "" && d.Reasoning == "" && d.Call == nil || a.r.left.Money < 0 && a.r.left.Tokens < 0 {
		return nil
	}
	u := a.r.guess.usage
	if a.usage != nil {
		u = *a.usage
	}
	u.Output, u.Calls = max(u.Output, a.came()), 1
	so := hermes.Amount{Tokens: u.Total()}
	if a.known {
		so.Money, _ = a.price.AtMost(u, a.c.g.longCache(a.c.request))
	}
	return a.r.cover(ctx, so, hermes.Amount{Money: so.Money / growth, Tokens: so.Tokens / growth})
}

// close books the attempt.
func (a *attempt) close(ctx context.Context) {
	if a.r == nil {
		return
	}
	charge := a.charge(ctx)
	a.r.settle(ctx, charge)
	if a.usage != nil {
		a.c.counted = a.usage
	}
	if a.whole {
		a.c.g.learn(a.model, charge)
	}
}

// charge returns what the attempt cost: the service's counts or, if they are
// incomplete, an estimate from what was received.
func (a *attempt) charge(ctx context.Context) hermes.Charge {
	charge := hermes.Charge{Model: a.model, Estimated: a.estimated}
	switch {
	case a.usage != nil:
		charge.Usage = *a.usage
		if came := a.came(); !a.whole && charge.Usage.Output < came {
			charge.Usage.Output, charge.Estimated = came, true
		}
	case a.quarters > 0 || a.whole || a.accepted(ctx):
		charge.Usage = a.r.guess.usage
		charge.Usage.Output, charge.Usage.Calls, charge.Estimated = a.came(), 1, true
	}
	money, known, exact := a.c.g.cost(a.model, charge.Usage, a.c.g.longCache(a.c.request))
	charge.Money, charge.Priced = money, known
	charge.Estimated = charge.Estimated || !exact
	if m := a.stated; m != nil && *m > 0 && *m <= mostMoney && a.c.g.cfg.Stated(a.model) {
		charge.Money, charge.Priced = *m, true
	}
	return charge
}

// accepted reports whether the service may have read the prompt although nothing
// came: it did not refuse the call, and the wait for its answer was given up.
func (a *attempt) accepted(ctx context.Context) bool {
	gone := a.err == nil || ctx.Err() != nil // the reader has left
	return a.sent && (gone || errors.Is(a.err, httpc.ErrTimeout))
}
