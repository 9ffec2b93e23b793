package chain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"hermes"
)

// Candidate is one model that may answer.
type Candidate struct {
	Ref   string
	Model hermes.Model // nil if it cannot be called
	Why   error        // the reason, if Model is nil
}

// FallbackConfig says which models a layer falls back to.
type FallbackConfig struct {
	// Others returns the models to try after the requested one, in their order.
	Others   func(context.Context) []Candidate
	Failover *Failover
	// Longest is how long to wait, before a request is served, for a model to
	// become available again.
	Longest func(*hermes.Request) time.Duration
	Now     func() time.Time
	Sleep   func(context.Context, time.Duration) error
}

// Fallback returns the layer that tries the next model. It calls the requested
// model, then the others. A model that takes over answers until the turn ends. The
// next user message goes to the first model again, unless it is still paused. A
// change of model is always announced.
func Fallback(c FallbackConfig) Layer {
	return func(next hermes.Model) hermes.Model { return &fallback{next, c} }
}

type fallback struct {
	hermes.Model
	FallbackConfig
}

// Stream reports which model takes over and why (Notice, Model), and withdraws
// what was already shown (Reset).
func (m *fallback) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		t := try{m: m, chain: []Candidate{{Ref: m.ID(), Model: m.Model}}, turn: turnOf(m.ID(), r), yield: yield}
		straight := m.Failover.answers(t.turn) == 0 && m.Failover.rests(m.ID(), m.Now()) == 0
		if straight && t.done(ctx, r, 0) {
			return
		}
		t.chain = append(t.chain, m.Others(ctx)...)
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
func (m *fallback) order(chain []Candidate, turn turnKey) []int {
	first := m.Failover.answers(turn)
	now := m.Now()
	var awake, resting []int
	for n := range chain {
		if i := (first + n) % len(chain); m.Failover.rests(chain[i].Ref, now) == 0 {
			awake = append(awake, i)
		}
		if m.Failover.rests(chain[n].Ref, now) > 0 {
			resting = append(resting, n)
		}
	}
	return append(awake, resting...)
}

// try is one call as it goes through the chain.
type try struct {
	m      *fallback
	chain  []Candidate
	turn   turnKey
	yield  func(hermes.Delta, error) bool
	failed []failure
	spent  hermes.Usage
	shown  bool
}

// done calls one model. It returns true when there is nothing more to do.
func (t *try) done(ctx context.Context, r *hermes.Request, i int) bool {
	c := t.chain[i]
	if c.Model == nil {
		t.failed = append(t.failed, failure{c.Ref, c.Why})
		return false
	}
	if !t.announce(i) {
		return true
	}
	a := attempt{spent: t.spent, shown: false}
	if !a.run(c.Model.Stream(ctx, r), t.yield) {
		t.m.Failover.answer(t.turn, i)
		return true
	}
	t.spent, t.shown = t.spent.Add(a.usage), a.shown
	e, judged := errors.AsType[*hermes.ModelError](a.err)
	if judged {
		t.m.Failover.rest(c.Ref, e.RetryAfter, t.m.Now())
	}
	if ctx.Err() != nil || !judged || e.Compress {
		t.m.Failover.answer(t.turn, i) // this model needs a shorter transcript
		t.yield(hermes.Delta{}, a.err)
		return true
	}
	t.failed = append(t.failed, failure{c.Ref, a.err})
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
	now, back := t.m.Now(), time.Duration(0)
	for _, c := range t.chain {
		if rest := t.m.Failover.rests(c.Ref, now); rest > 0 && (back == 0 || rest < back) {
			back = rest
		}
	}
	if back == 0 || back > t.m.Longest(r) || round+1 >= maxRounds {
		return false, false
	}
	if !t.yield(hermes.Delta{Notice: fmt.Sprintf("no model is available now; trying again in %v", back.Round(time.Second))}, nil) {
		return false, true
	}
	if err := t.m.Sleep(ctx, back); err != nil {
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
	if len(t.failed) > 0 || t.m.Failover.answers(t.turn) != i {
		if !t.yield(hermes.Delta{Notice: t.notice(c.Ref)}, nil) {
			return false
		}
	}
	t.m.Failover.answer(t.turn, i)
	return t.yield(hermes.Delta{Model: c.Ref}, nil)
}
