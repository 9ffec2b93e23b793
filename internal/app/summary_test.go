package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// talked has a talk of so many exchanges with a service and ends it. It
// returns what is kept of what it was about.
func talked(t *testing.T, exchanges int, source, settings string) (summary string, asked int) {
	t.Helper()
	server := serve(t, "We built the parser with key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD.")
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: m, provider: custom, base_url: "`+server.URL+`/v1"}
auxiliary: {title_generation: {enabled: false}}
`+settings)
	a := app.New(app.Options{Home: home, Dir: t.TempDir(), Attended: true, Getenv: func(string) string { return "" }})
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Open(t.Context(), session.Open{Source: source, Attended: true})
	if err != nil {
		t.Fatal(err)
	}
	events, cancel := s.Subscribe(0)
	defer cancel()
	for range exchanges {
		if err := s.Submit(t.Context(), session.Say{Parts: []hermes.Part{{Text: "go on"}}}); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if _, ok := e.(hermes.TurnDone); ok {
				break
			}
		}
	}
	if err := a.Close(); err != nil { // waits for the summary
		t.Fatal(err)
	}
	a = app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	db, err := a.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := db.Summaries(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	return kept[s.ID()].Text, len(server.seen)
}

func TestTheEndOfATalkIsSummedUp(t *testing.T) {
	t.Parallel()
	text, asked := talked(t, 3, "cli", "")
	if !strings.HasPrefix(text, "We built the parser") || strings.Contains(text, "mnopqrstuv") || asked != 4 {
		t.Errorf("%q after %d requests", text, asked)
	}
	for name, c := range map[string]struct {
		exchanges        int
		source, settings string
	}{
		"switched off": {3, "cli", "sessions: {summaries: false}"},
		"a short talk": {2, "cli", ""},
		"a child":      {3, "subagent", ""},
		"one question": {3, "oneshot", ""},
	} {
		if text, asked := talked(t, c.exchanges, c.source, c.settings); text != "" || asked != c.exchanges {
			t.Errorf("%s: %q after %d requests", name, text, asked)
		}
	}
}
