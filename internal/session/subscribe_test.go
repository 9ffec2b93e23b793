package session_test

import (
	"context"

	"hermes"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// subscribe returns the events of a session from now on, without those of its children. The
// frontend's user is not there to answer.
func subscribe(s *session.Session, buffer int) (<-chan hermes.Event, func()) {
	return attach(s, buffer, hermes.From{Client: "test"})
}

// attach returns the events for a frontend.
func attach(s *session.Session, buffer int, from hermes.From) (<-chan hermes.Event, func()) {
	events, _, cancel := follow(s, buffer, from, protocol.After{})
	return events, cancel
}

// follow is attach for one that knows what came before.
func follow(s *session.Session, buffer int, from hermes.From, after protocol.After) (_ <-chan hermes.Event, continued bool, cancel func()) {
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan hermes.Event, buffer)
	st, events, err := s.Attach(ctx, from, after)
	if err != nil {
		close(out)
		return out, false, cancel
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
	return out, st.Continued, cancel
}
