package app_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/session"
)

// talked runs a session of some exchanges with a service and ends it. It returns the
// stored summary; if one is wanted, it waits for it.
func talked(t *testing.T, wanted bool, exchanges int, source, settings string) (summary string, asked int) {
	t.Helper()
	server := serve(t, "We built the parser with key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD.")
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: m, provider: custom, base_url: "`+server.URL+`/v1"}
auxiliary: {title_generation: {enabled: false}, evidence: {enabled: false}}
`+settings)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: source}}, From: hermes.From{Attends: true}})
	events, cancel := subscribe(s, 0)
	defer cancel()
	for range exchanges {
		if err := s.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: "go on"}}}); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if _, ok := e.(hermes.TurnDone); ok {
				break
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	summed := func(a *app.App) string {
		t.Helper()
		db, err := a.Database(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kept, err := db.Summaries(t.Context(), s.ID())
		if err != nil {
			t.Fatal(err)
		}
		return kept[s.ID()].Text
	}
	// The end of the program waits for a summary, but not for as long as a slow machine takes.
	for deadline := time.Now().Add(2 * time.Minute); wanted && summed(a) == "" && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	a = app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	summary = summed(a)
	server.mu.Lock()
	defer server.mu.Unlock()
	return summary, len(server.seen)
}

func TestTheEndOfASessionIsSummarized(t *testing.T) {
	t.Parallel()
	text, asked := talked(t, true, 3, "cli", "")
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
		if text, asked := talked(t, false, c.exchanges, c.source, c.settings); text != "" || asked != c.exchanges {
			t.Errorf("%s: %q after %d requests", name, text, asked)
		}
	}
}
