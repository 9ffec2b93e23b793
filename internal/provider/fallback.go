package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"hermes"
)

// fallbackLayer returns the layer that tries the next model; nil if no fallback is
// configured.
func (c *Catalogue) fallbackLayer(ch choice) Layer {
	if len(c.cfg.Fallback) == 0 {
		return nil
	}
	return func(next hermes.Model) hermes.Model {
		return &fallbackModel{Model: next, c: c, asked: ch}
	}
}

// fallbackModel calls the requested model, then the entries of
// fallback_providers in their order. A model that takes over answers until the
// turn ends. The next user message goes to the first model again, unless it is
// still paused. A change of model is always announced.
type fallbackModel struct {
	hermes.Model
	c     *Catalogue
	asked choice
}

// Stream reports which model takes over and why (Notice, Model), and withdraws
// what was already shown (Reset).
func (m *fallbackModel) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		t := try{m: m, chain: []candidate{{ref: m.ID(), model: m.Model}}, turn: turnOf(m.ID(), r), yield: yield}
		straight := m.c.failover.answers(t.turn) == 0 && m.c.failover.rests(m.ID(), m.c.cfg.Now()) == 0
		if straight && t.done(ctx, r, 0) {
			return
		}
		t.chain = m.chain(ctx)
		for round := 0; ; round++ {
			for _, i := range m.order(t.chain, t.turn) {
				if straight && round == 0 && i == 0 {
					continue // was called already
				}
				if t.done(ctx, r, i) {
					return
				}
			}
			if again, stop := t.await(ctx, r, round); stop {
				return
			} else if !again {
				yield(hermes.Delta{}, exhausted(t.failed))
				return
			}
		}
	}
}

// order returns the order in which models are called: from the one that answers
// this turn to the end, then those before it. Paused ones come last, in the
// order of the chain.
func (m *fallbackModel) order(chain []candidate, turn turnKey) []int {
	first := m.c.failover.answers(turn)
	now := m.c.cfg.Now()
	var awake, resting []int
	for n := range chain {
		if i := (first + n) % len(chain); m.c.failover.rests(chain[i].ref, now) == 0 {
			awake = append(awake, i)
		}
		if m.c.failover.rests(chain[n].ref, now) > 0 {
			resting = append(resting, n)
		}
	}
	return append(awake, resting...)
}

// try is one call as it goes through the chain.
type try struct {
	m      *fallbackModel
	chain  []candidate
	turn   turnKey
	yield  func(hermes.Delta, error) bool
	failed []failure
	spent  hermes.Usage
	shown  bool
}

// done calls one model. It returns true when there is nothing more to do.
func (t *try) done(ctx context.Context, r *hermes.Request, i int) bool {
	c := t.chain[i]
	if c.model == nil {
		t.failed = append(t.failed, failure{c.ref, c.why})
		return false
	}
	if !t.announce(i) {
		return true
	}
	a := attempt{spent: t.spent, shown: false}
	if !a.run(c.model.Stream(ctx, r), t.yield) {
		t.m.c.failover.answer(t.turn, i)
		return true
	}
	t.spent, t.shown = t.spent.Add(a.usage), a.shown
	e, judged := errors.AsType[*hermes.ModelError](a.err)
	if judged {
		t.m.c.failover.rest(c.ref, e.RetryAfter, t.m.c.cfg.Now())
	}
	if ctx.Err() != nil || !judged || e.Compress {
		t.m.c.failover.answer(t.turn, i) // this model needs a shorter transcript
		t.yield(hermes.Delta{}, a.err)
		return true
	}
	t.failed = append(t.failed, failure{c.ref, a.err})
	if e.Fallback {
		return false
	}
	t.yield(hermes.Delta{}, exhausted(t.failed))
	return true
}

// maxRounds is how often the whole chain is tried in one call.
const maxRounds = 3

// await waits for the first model that becomes available again, if that is soon
// enough.
func (t *try) await(ctx context.Context, r *hermes.Request, round int) (again, stop bool) {
	now, back := t.m.c.cfg.Now(), time.Duration(0)
	for _, c := range t.chain {
		if rest := t.m.c.failover.rests(c.ref, now); rest > 0 && (back == 0 || rest < back) {
			back = rest
		}
	}
	if back == 0 || back > t.m.c.cfg.longestFor(r) || round+1 >= maxRounds {
		return false, false
	}
	if !t.yield(hermes.Delta{Notice: fmt.Sprintf("no model is available now; trying again in %v", back.Round(time.Second))}, nil) {
		return false, true
	}
	if err := t.m.c.cfg.Sleep(ctx, back); err != nil {
		t.yield(hermes.Delta{}, err)
		return false, true
	}
	t.failed = nil // report only the last round
	return true, false
}

// announce reports that a model other than the requested one takes over.
func (t *try) announce(i int) bool {
	if t.shown {
		t.shown = false
		if !t.yield(hermes.Delta{Reset: "trying another model"}, nil) {
			return false
		}
	}
	c := t.chain[i]
	if i == 0 && len(t.failed) == 0 {
		return true
	}
	if len(t.failed) > 0 || t.m.c.failover.answers(t.turn) != i {
		if !t.yield(hermes.Delta{Notice: t.notice(c.ref)}, nil) {
			return false
		}
	}
	t.m.c.failover.answer(t.turn, i)
	return t.yield(hermes.Delta{Model: c.ref}, nil)
}
