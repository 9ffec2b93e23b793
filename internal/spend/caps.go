package spend

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"hermes"
)

// Caps wraps a model so that its calls keep to the caps: before each call an
// estimate is reserved, and a call that a cap has no room for is not made. It is
// the outermost layer of the chain. [Governor.Meter], the innermost one, books
// what is really spent and says when an answer must stop.
func (g *Governor) Caps(next hermes.Model) hermes.Model { return &capped{Model: next, g: g} }

// capped is a model whose calls keep to the caps.
type capped struct {
	hermes.Model
	g *Governor
}

// Stream fails with a *hermes.ModelError of hermes.ClassBudget, whose text is for
// the user, if a cap refuses the call, refuses one of its retries, or is used up
// while the answer arrives. What arrived until then was passed on.
func (m *capped) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		if m.g.cfg.Fault != nil {
			yield(hermes.Delta{}, m.g.cfg.Fault)
			return
		}
		c, err := m.g.open(ctx, m.ID(), r)
		if err != nil {
			yield(hermes.Delta{}, err)
			return
		}
		defer c.close(ctx)
		for _, text := range c.notices() {
			if !yield(hermes.Delta{Notice: text}, nil) {
				return
			}
		}
		own := *r
		own.Scope.Call = c.id
		for d, err := range m.Model.Stream(ctx, &own) {
			if err != nil && c.stop != nil {
				err = c.stop // the layers between have put their own words around it
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// call is a running call with all its attempts. It belongs to the goroutine that
// iterates.
type call struct {
	g       *Governor
	id      int64         // in Governor.calls
	ledger  hermes.Ledger // nil: the call is not in the ledger
	request *hermes.Request
	limits  []hermes.Limit
	first   *reservation  // until the first attempt takes it
	counted *hermes.Usage // of the newest attempt that the service counted
	told    []string      // notices that were not shown yet
	stop    error         // why a cap ended the call
}

// open starts a call and reserves its first attempt, or says why the call must
// not be made.
func (g *Governor) open(ctx context.Context, model string, r *hermes.Request) (*call, error) {
	c := &call{g: g, request: r}
	c.limits = g.limits(ctx, r)
	ledger, err := g.openLedger(ctx)
	if err != nil {
		return c, c.unbooked(ctx, err)
	}
	c.ledger = ledger
	if c.first, err = c.reserve(ctx, model); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last++
	c.id = g.last
	g.calls[c.id] = c
	return c, nil
}

// running returns the call of an attempt, or nil if it has none.
func (g *Governor) running(id int64) *call {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.calls[id]
}

// close ends the call. What was reserved for an attempt that was never made is
// released.
func (c *call) close(ctx context.Context) {
	if c.first != nil {
		c.first.settle(ctx, hermes.Charge{Model: c.first.model, Priced: true})
	}
	c.g.mu.Lock()
	defer c.g.mu.Unlock()
	delete(c.g.calls, c.id)
}

// notices returns what the user must be told, once.
func (c *call) notices() []string {
	told := c.told
	c.told = nil
	return told
}

// noticesShown reports whether the user sees the notices of the call. Those of
// side tasks and sub-agents are not shown, so they must not use up warnings.
func (c *call) noticesShown() bool {
	if c.request.Purpose != "" {
		return false
	}
	for _, l := range c.limits {
		if l.Account.Kind == hermes.AccountTree {
			return l.Account.Name == c.request.Session
		}
	}
	return true
}

// unbooked decides about a call that could not be recorded: without caps it is
// made anyway, with caps it must not be.
func (c *call) unbooked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !c.capped() {
		c.g.cfg.Log.Warn("a model call is not in the ledger", "err", err)
		return nil
	}
	return &hermes.ModelError{Class: hermes.ClassBudget, Err: err,
		Message: "a spend cap is set but spending cannot be recorded (" + err.Error() + "), so model calls are blocked"}
}

// capped reports whether any cap is configured, or set for the run.
func (c *call) capped() bool {
	set := func(a hermes.Amount) bool { return a != hermes.Amount{} }
	return slices.ContainsFunc(slices.Collect(maps.Values(c.g.cfg.Caps)), set) ||
		slices.ContainsFunc(c.limits, func(l hermes.Limit) bool { return set(l.Cap) })
}

// refuse ends the call at a cap.
func (c *call) refuse(over *hermes.OverCap, cut bool) error {
	text := c.g.refusalText(over, c.g.cfg.Now())
	if cut {
		text = c.g.cutText(over, c.g.cfg.Now())
	}
	c.stop = &hermes.ModelError{Class: hermes.ClassBudget, Message: text, Err: over}
	return c.stop
}

// overCap returns the refusal of a ledger, nil if it is another error.
func overCap(err error) *hermes.OverCap {
	over, _ := errors.AsType[*hermes.OverCap](err)
	return over
}
