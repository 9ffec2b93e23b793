package provider

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"hermes"
)

const (
	// mostRotations bounds how many credentials one call may try; each of them
	// is used up for a while, so a pool of any size comes to its end.
	mostRotations = 16
	// mostTransports bounds the transports that are kept, one a credential.
	mostTransports = 16
)

// rotating asks with the next credential where a failure says that this may
// help. Failures are reported for the credential that was used, so that each
// rests for its own faults. It keeps one model for each credential.
type rotating struct {
	id   string
	keys hermes.Keys
	with func(hermes.Key) hermes.Model

	mu   sync.Mutex
	made map[hermes.Key]hermes.Model
}

func newRotating(id string, keys hermes.Keys, with func(hermes.Key) hermes.Model) *rotating {
	return &rotating{id: id, keys: keys, with: with, made: map[hermes.Key]hermes.Model{}}
}

// ID returns the reference of the model.
func (m *rotating) ID() string { return m.id }

// Stream tells the person when it changes the credential (Notice), and takes
// back what was already shown (Reset).
func (m *rotating) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var (
			spent hermes.Usage // of attempts that failed
			last  error
		)
		for range mostRotations {
			key, err := m.keys.Next(ctx, r.Session)
			if err != nil {
				yield(hermes.Delta{}, instead(last, err))
				return
			}
			if last != nil && !yield(hermes.Delta{Notice: m.notice(last, key)}, nil) {
				return
			}
			a := attempt{spent: spent}
			stopped := false
			failed := a.run(m.model(key).Stream(ctx, r), func(d hermes.Delta, err error) bool {
				stopped = !yield(d, err)
				return !stopped
			})
			if !failed {
				if !stopped {
					m.keys.Report(ctx, key, nil)
				}
				return
			}
			e, judged := errors.AsType[*hermes.ModelError](a.err)
			if !judged || ctx.Err() != nil || !m.keys.Report(ctx, key, e) {
				yield(hermes.Delta{}, a.err)
				return
			}
			last, spent = a.err, spent.Add(a.usage)
			if a.shown && !yield(hermes.Delta{Reset: "the answer broke off and is asked for again"}, nil) {
				return
			}
		}
		yield(hermes.Delta{}, last)
	}
}

// instead is what to tell when the pool has come to its end: what the service
// said last, with the time at which a credential comes back.
func instead(last, end error) error {
	e, ok := errors.AsType[*hermes.ModelError](last)
	none, known := errors.AsType[*hermes.ModelError](end)
	if !ok || !known {
		return end
	}
	merged := *e
	merged.RetryAfter = none.RetryAfter
	merged.Retry = false // the credentials rest
	merged.Message += "; " + none.Message
	return &merged
}

func (m *rotating) model(key hermes.Key) hermes.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, ok := m.made[key]; ok {
		return made
	}
	if len(m.made) >= mostTransports {
		clear(m.made) // credentials that were replaced, for the most part
	}
	made := m.with(key)
	m.made[key] = made
	return made
}

func (m *rotating) notice(err error, next hermes.Key) string {
	why := "the call failed"
	if e, ok := errors.AsType[*hermes.ModelError](err); ok {
		why = reason(e)
	}
	name := next.Label
	if name == "" {
		name = next.ID
	}
	return fmt.Sprintf("%s: %s; asking with the key %q", m.id, why, name)
}
