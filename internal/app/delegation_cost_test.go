package app_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/protocol"
	"hermes/internal/session"
)

// delegating opens a session of a program whose model follows orders, and whose tool "hold" waits for the channel.
func delegating(t *testing.T, settings string) (m *session.Manager, s *session.Session, dir string, hold chan struct{}) {
	t.Helper()
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: follow})
	t.Cleanup(server.Close)
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: played, provider: custom, base_url: \""+server.URL+"/v1\"}\n"+settings)
	hold = make(chan struct{})
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{&crew{refused: hold}}, Getenv: func(string) string { return "" }})
	t.Cleanup(func() { _ = a.Close() })
	s = mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}, From: user})
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return m, s, dir, hold
}

// TestTheCostOfAChildIsKnown while it works, and in its report.
func TestTheCostOfAChildIsKnown(t *testing.T) {
	t.Parallel()
	m, s, _, hold := delegating(t, "spend: {prices: {played: {input: 1000, output: 1000, cache_read: 1000, cache_write: 1000}}}\n")
	_, events, err := s.Attach(t.Context(), user, protocol.After{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Do(t.Context(), user, saying(`delegate_task {"goal":"todo {}\u0020then hold {\"n\":1}"}`)); err != nil {
		t.Fatal(err)
	}
	cost := hermes.Money(0)
	for e := range events {
		switch d := e.Event.(type) {
		case hermes.UsageUpdated:
			if e.Parent == s.ID() {
				cost = max(cost, d.Cost)
			}
		case hermes.CallStarted:
			if d.Call.Name != "hold" {
				continue
			}
			list, _, err := m.Children(t.Context(), s.ID()) // which /agents shows
			if err != nil || len(list) != 1 || list[0].Cost <= 0 || list[0].Cost != cost {
				t.Errorf("the children are %+v, %v; the events say %v", list, err, cost)
			}
			close(hold)
		case hermes.TurnDone:
			if e.Parent != "" {
				continue
			}
			if !strings.Contains(d.Text, `"cost":"$`) {
				t.Errorf("the report is %s", d.Text)
			}
			return
		}
	}
	t.Error("the session ended")
}

// TestAChildOfAClientsTurnAsks, also while its parent has a turn of the user who allows everything.
func TestAChildOfAClientsTurnAsks(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"an MCP client": hermes.ClientSource("editor"), "another session": hermes.SessionSource("20260101_000000_abcdef"),
		"an MCP client, reopened": hermes.ClientSource("editor"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, s, dir, hold := delegating(t, "approvals: {mode: \"off\"}\n")
			if err := os.Mkdir(filepath.Join(dir, "victim"), 0o700); err != nil {
				t.Fatal(err)
			}
			_, events, err := s.Attach(t.Context(), user, protocol.After{})
			if err != nil {
				t.Fatal(err)
			}
			order := `delegate_task {"goal":"hold {\"n\":1}\u0020then terminal {\"command\":\"rm -rf victim\"}","background":true}`
			if err := s.Do(t.Context(), hermes.From{Client: "other"}, hermes.Say{Parts: []hermes.Part{{Text: order, Provenance: source}}}); err != nil {
				t.Fatal(err)
			}
			turns, asked := 0, false
			if strings.HasSuffix(name, "reopened") {
				for holds := false; turns == 0 || !holds; {
					switch e := <-events; d := e.Event.(type) {
					case hermes.CallStarted:
						holds = holds || d.Call.Name == "hold"
					case hermes.TurnDone:
						turns++
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = m.Open(t.Context(), session.Open{Run: hermes.RunSpec{Session: s.ID()}, From: user}); err != nil {
					t.Fatal(err)
				}
				if _, events, err = s.Attach(t.Context(), user, protocol.After{}); err != nil {
					t.Fatal(err)
				}
				turns = 2 // the next one has the result
			}
			for e := range events {
				switch d := e.Event.(type) {
				case hermes.Asked:
					asked = true
					child := s
					if e.Session != s.ID() {
						if child, err = m.Get(t.Context(), e.Session); err != nil {
							t.Fatal(err)
						}
					}
					if err := child.Do(t.Context(), user, hermes.Reply{ID: d.ID, Approval: hermes.ApprovalAnswer{Decision: hermes.Deny}}); err != nil {
						t.Fatal(err)
					}
				case hermes.TurnDone:
					if e.Parent != "" {
						continue
					}
					switch turns++; turns {
					case 1:
						if err := s.Do(t.Context(), user, saying("hello")); err != nil {
							t.Fatal(err)
						}
					case 2:
						close(hold)
					case 3: // with the result
						if _, err := os.Stat(filepath.Join(dir, "victim")); !asked || err != nil {
							t.Errorf("asked is %v, %v", asked, err)
						}
						return
					}
				}
			}
			t.Error("the session ended")
		})
	}
}
