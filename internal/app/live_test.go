package app_test

import (
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// mustOpen opens a session of an app.
func mustOpen(t *testing.T, a *app.App, o session.Open) *session.Session {
	t.Helper()
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mustSay sends a message to a session and returns what happens from then on.
func mustSay(t *testing.T, s *session.Session, text string) <-chan hermes.Event {
	t.Helper()
	events, cancel := s.Subscribe(0)
	t.Cleanup(cancel)
	if err := s.Submit(t.Context(), session.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	return events
}
