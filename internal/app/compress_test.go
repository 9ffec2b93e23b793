package app_test

import (
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/session"
)

// The model that a session began with may no longer exist: the current one writes the
// summary.
func TestTheCurrentModelWritesTheSummary(t *testing.T) {
	t.Parallel()
	s := serve(t, "an answer "+strings.Repeat("word ", 300))
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model:\n  default: m\n  provider: custom\n  base_url: "+s.URL+"/v1\nauxiliary:\n  title_generation:\n    enabled: false\n")
	a := openHome(t, home)
	defer a.Close()
	var id string
	for range 8 {
		id, _ = say(t, a, id, "go on")
	}
	live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: id}})
	events, cancel := subscribe(live, 0)
	defer cancel()
	for _, op := range []hermes.Op{hermes.SetModel{Ref: "custom:second"}, hermes.Compress{}} {
		if err := live.Do(t.Context(), hermes.From{}, op); err != nil {
			t.Fatal(err)
		}
	}
	for e := range events {
		if _, ok := e.(hermes.TurnDone); ok {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.seen[len(s.seen)-1]
	if last.Model != "second" || !strings.Contains(string(last.Body), "The turns to summarize") {
		t.Errorf("%s was asked: %.300s", last.Model, last.Body)
	}
}
