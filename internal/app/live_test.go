package app_test

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// mustOpen opens a session of an app.
func mustOpen(t testing.TB, a *app.App, o session.Open) *session.Session {
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
	events, cancel := subscribe(s, 0)
	t.Cleanup(cancel)
	if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: text}}}); err != nil {
		t.Fatal(err)
	}
	return events
}

// setCalling makes a home whose model makes calls one after the other, with these
// settings of the section approvals.
func setCalling(t *testing.T, home, approvals string, calls []chatserver.Function) {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		done := 0
		for _, m := range r.Messages {
			if m.Role == "tool" {
				done++
			}
		}
		if done == len(calls) {
			return chatserver.Answer{Text: "done"}, nil
		}
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c", Type: "function", Function: calls[done]}}}, nil
	}})
	t.Cleanup(server.Close)
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\napprovals: {"+approvals+"}\n")
}

// runUnattended runs one turn of a session without a user.
func runUnattended(t *testing.T, home, dir string) {
	t.Helper()
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	for e := range mustSay(t, mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}}), "go") {
		if done, ok := e.(hermes.TurnDone); ok {
			if done.Failure != nil {
				t.Fatal(done.Err())
			}
			return
		}
	}
	t.Fatal("the session ended")
}
