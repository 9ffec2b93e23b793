package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/session"
)

// TestIdleCompactAfterSeconds leaves a session alone: it is compacted in the background,
// its model is paid for that, and the next request begins with the summary.
func TestIdleCompactAfterSeconds(t *testing.T) {
	t.Parallel()
	s := serve(t, "an answer "+strings.Repeat("word", 700))
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+s.URL+"/v1\", context_length: 32000}\n"+
		"compression: {idle_compact_after_seconds: 0.05}\n"+
		"auxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n")
	a := openHome(t, home)
	defer a.Close()
	live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	events, cancel := subscribe(live, 0)
	defer cancel()
	quiet := &pausing{}
	for i := range 15 { // less than the threshold of 27,200 tokens
		turn(t, live, fmt.Sprintf("letter %d %s", i, strings.Repeat("text", 700)), quiet)
	}
	late := time.After(time.Minute)
	for compacted := false; !compacted; {
		select {
		case e := <-events:
			c, ok := e.(hermes.Compacted)
			if compacted = ok; ok && !strings.Contains(c.Note, "while you were away") {
				t.Errorf("note %q", c.Note)
			}
		case <-late:
			t.Fatal("the idle session was not compacted")
		}
	}
	turn(t, live, "and now?", quiet)
	s.mu.Lock()
	last := s.seen[len(s.seen)-1]
	s.mu.Unlock()
	if n := len(last.Messages); n > 20 || !strings.Contains(string(last.Body), "[SUMMARY OF EARLIER TURNS.") {
		t.Errorf("the next request has %d messages", n)
	}
	g, err := a.Spend()
	if err != nil {
		t.Fatal(err)
	}
	list, err := g.Spent(t.Context(), hermes.SpendQuery{Session: live.ID(), By: hermes.SpendByPurpose})
	if err != nil {
		t.Fatal(err)
	}
	booked := false
	for _, sp := range list {
		booked = booked || sp.Name == "compression" && sp.Usage.Total() > 0
	}
	if !booked {
		t.Errorf("the summary is not booked: %+v", list)
	}
}
