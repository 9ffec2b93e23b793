package chain

import (
	"context"
	"iter"

	"hermes"
)

// Watch returns the layer that shows each delta and error of an answer to see, and
// passes it on. r is the request that is answered.
func Watch(see func(r *hermes.Request, d hermes.Delta, err error)) Layer {
	return func(next hermes.Model) hermes.Model { return &watching{next, see} }
}

type watching struct {
	hermes.Model
	see func(*hermes.Request, hermes.Delta, error)
}

func (m *watching) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		for d, err := range m.Model.Stream(ctx, r) {
			m.see(r, d, err)
			if !yield(d, err) {
				return
			}
		}
	}
}
