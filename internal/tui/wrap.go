package tui

import (
	"context"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// Wrap is a session as the chat uses it, for one frontend.
func Wrap(s *session.Session, from hermes.From) Session { return wrapped{s, from} }

type wrapped struct {
	*session.Session
	from hermes.From
}

// Submit sends an op.
func (w wrapped) Submit(ctx context.Context, op hermes.Op) error { return w.Do(ctx, w.from, op) }

// Subscribe returns the events from now on.
func (w wrapped) Subscribe(buffer int) (<-chan hermes.Event, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan hermes.Event, buffer)
	_, events, err := w.Attach(ctx, w.from, protocol.After{})
	if err != nil {
		close(out)
		return out, cancel
	}
	go func() {
		defer close(out)
		for e := range events {
			if e.Parent != "" {
				continue
			}
			select {
			case out <- e.Event:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, cancel
}
