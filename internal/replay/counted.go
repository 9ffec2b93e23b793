package replay

import (
	"cmp"
	"context"
	"iter"
	"sync"

	"hermes"
)

// counted is a model that counts its tokens. It makes no more calls when the
// tokens of a trial are used up.
type counted struct {
	hermes.Model
	most int64

	mu    sync.Mutex
	spent int64
	cause error
}

// Stream calls the model unless the tokens are used up.
func (c *counted) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		if c.used() >= c.most {
			c.stop(errSpent)
			yield(hermes.Delta{}, &hermes.ModelError{Class: hermes.ClassBudget, Message: errSpent.Error(), Err: errSpent})
			return
		}
		var last hermes.Usage // the last one counts; a reset starts again
		out := 0
		defer func() { c.add(cmp.Or(last.Total(), guess(r, out))) }()
		for d, err := range c.Model.Stream(ctx, r) {
			out += len(d.Text) + len(d.Reasoning)
			switch {
			case d.Usage != nil:
				last = *d.Usage
			case d.Reset != "":
				c.add(last.Total())
				last = hermes.Usage{}
			}
			if err != nil && hermes.ClassOf(err) == hermes.ClassBudget {
				c.stop(err)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// guess estimates the tokens of a call whose service reported none.
func guess(r *hermes.Request, out int) int64 {
	n := len(r.System) + out
	for _, m := range r.Messages {
		n += len(m.Text())
	}
	return int64(n/4 + 1)
}

func (c *counted) add(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent += n
}

func (c *counted) stop(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cause = err
}

func (c *counted) used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

func (c *counted) stopped() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}
