package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"hermes"
)

// fallBack is the layer that asks the next model. It is not there where no
// other model is configured.
func (c *Catalogue) fallBack(ch choice) Layer {
	if len(c.cfg.Fallback) == 0 {
		return nil
	}
	return func(next hermes.Model) hermes.Model {
		return &fallbackModel{Model: next, c: c, asked: ch}
	}
}

// fallbackModel asks the model that was asked for, then the entries of
// fallback_providers in their order. Who takes over answers to the end of the
// turn: with the next message of the person the first model is asked again,
// unless it said until when it rests. Nobody takes over silently.
type fallbackModel struct {
	hermes.Model
	c     *Catalogue
	asked choice
}

// Stream tells the person who takes over and why (Notice, Model), and takes
// back what was already shown (Reset).
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
					continue // was asked already
				}
				if t.done(ctx, r, i) {
					return
				}
			}
			if again, stop := t.await(ctx, round); stop {
				return
			} else if !again {
				yield(hermes.Delta{}, exhausted(t.failed))
				return
			}
		}
	}
}

// order is who is asked in which order: from the one that answers in this turn
// to the end, then those before it. Who rests comes last, the first model first.
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

// try is one call on its way through the chain.
type try struct {
	m      *fallbackModel
	chain  []candidate
	turn   turnKey
	yield  func(hermes.Delta, error) bool
	failed []failure
	spent  hermes.Usage
	shown  bool
}

// done asks one model. It returns true when there is nothing more to do.
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
		t.m.c.failover.answer(t.turn, i) // it is this one that wants a shorter transcript
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

// maxRounds is how often the whole chain is gone through in one call.
const maxRounds = 3

// await waits for the first model that said when it comes back, if that is
// soon enough.
func (t *try) await(ctx context.Context, round int) (again, stop bool) {
	now, back := t.m.c.cfg.Now(), time.Duration(0)
	for _, c := range t.chain {
		if rest := t.m.c.failover.rests(c.ref, now); rest > 0 && (back == 0 || rest < back) {
			back = rest
		}
	}
	if back == 0 || back > t.m.c.cfg.LongestWait || round+1 >= maxRounds {
		return false, false
	}
	if !t.yield(hermes.Delta{Notice: fmt.Sprintf("no model can answer now; asking again in %v, when the first of them is back", back.Round(time.Second))}, nil) {
		return false, true
	}
	if err := t.m.c.cfg.Sleep(ctx, back); err != nil {
		t.yield(hermes.Delta{}, err)
		return false, true
	}
	t.failed = nil // what counts is how it ends
	return true, false
}

// announce tells that another model than the one asked for takes over.
func (t *try) announce(i int) bool {
	if t.shown {
		t.shown = false
		if !t.yield(hermes.Delta{Reset: "another model is asked for the answer"}, nil) {
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
