package chain

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"hermes"
	"hermes/internal/lru"
)

const (
	// mostRotations bounds how many credentials one call may try. Each one that
	// fails is paused, so a large pool could be used up at once.
	mostRotations = 16
	// mostTransports bounds the cached transports, one per credential.
	mostTransports = 16
)

// rotating tries the next credential when a failure says that this may help.
// Failures are reported for the credential that was used, so that only that one
// is paused. It keeps one model for each credential.
type rotating struct {
	id   string
	keys hermes.Keys
	with func(hermes.Key) hermes.Model

	mu   sync.Mutex
	made *lru.Map[hermes.Key, hermes.Model]
}

// Rotate returns a model that chooses a key for each call; with is the model that has
// that key.
func Rotate(id string, keys hermes.Keys, with func(hermes.Key) hermes.Model) hermes.Model {
	return &rotating{id: id, keys: keys, with: with, made: lru.New[hermes.Key, hermes.Model](mostTransports)}
}

// ID returns the reference of the model.
func (m *rotating) ID() string { return m.id }

// Stream reports when it changes the credential (Notice), and withdraws what was
// already shown (Reset).
func (m *rotating) Stream(ctx context.Context, r *hermes.Request) iter.Seq2[hermes.Delta, error] {
	return func(yield func(hermes.Delta, error) bool) {
		var (
			a    attempt
			last error
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
			last = a.err
			if !a.again(yield, cutOff, "") {
				return
			}
		}
		yield(hermes.Delta{}, last)
	}
}

// instead is the error when the pool is used up: what the service said last, and
// when a credential becomes available again.
func instead(last, end error) error {
	e, ok := errors.AsType[*hermes.ModelError](last)
	none, known := errors.AsType[*hermes.ModelError](end)
	if !ok || !known {
		return end
	}
	merged := *e
	merged.RetryAfter = none.RetryAfter
	merged.Retry = false // the credentials are paused
	merged.Message += "; " + none.Message
	return &merged
}

func (m *rotating) model(key hermes.Key) hermes.Model {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.made.Make(key, func() hermes.Model { return m.with(key) })
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
	return fmt.Sprintf("%s: %s; trying key %q", m.id, why, name)
}
