package app_test

import (
	"context"
	"testing"

	"hermes"
	"hermes/internal/app"
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

// answerChildren gives an answer to all that the children of a session ask. It calls seen with each
// question, if that is set.
func answerChildren(t *testing.T, a *app.App, s *session.Session, d hermes.Decision, seen func(hermes.Asked)) {
	t.Helper()
	_, events, err := s.Attach(t.Context(), hermes.From{Client: "children"}, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the test
		for e := range events {
			asked, ok := e.Event.(hermes.Asked)
			if !ok || e.Parent == "" {
				continue
			}
			if seen != nil {
				seen(asked)
			}
			child, err := m.Get(t.Context(), e.Session)
			if err == nil {
				err = child.Do(t.Context(), hermes.From{}, hermes.Reply{ID: asked.ID, Approval: hermes.ApprovalAnswer{Decision: d}})
			}
			if err != nil {
				t.Error(err)
			}
		}
	}()
}
