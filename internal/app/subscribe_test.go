package app_test

import (
	"context"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// subscribe returns the events of a session from now on, without those of its children. The
// frontend's user is not there to answer.
func subscribe(s *session.Session, buffer int) (<-chan hermes.Event, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan hermes.Event, buffer)
	_, events, err := s.Attach(ctx, hermes.From{Client: "test"}, protocol.After{})
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
