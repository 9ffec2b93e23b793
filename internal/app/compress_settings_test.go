package app_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// letters has a session exchange messages of about so many tokens, and returns the last
// request, the notes of the compactions, and how many requests asked for a summary.
func letters(t *testing.T, settings string, exchanges, size int) (last *chatserver.Request, notes []string, summaries int) {
	t.Helper()
	s := serve(t, strings.Repeat("word", size))
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+s.URL+"/v1\", context_length: 128000}\n"+
		"auxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n"+settings)
	a := app.New(app.Options{Home: home, Dir: t.TempDir(), Getenv: func(string) string { return "" }})
	defer a.Close()
	m, err := a.Sessions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	live, err := m.Open(t.Context(), session.Open{Platform: "cli", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	events, cancel := live.Subscribe(0)
	defer cancel()
	for i := range exchanges {
		if err := live.Submit(t.Context(), session.Say{Parts: []hermes.Part{{Text: fmt.Sprintf("letter %d %s", i, strings.Repeat("text", size))}}}); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if c, ok := e.(hermes.Compacted); ok {
				notes = append(notes, c.Note)
			}
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Err != nil {
					t.Fatal(done.Err)
				}
				break
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.seen {
		if strings.Contains(string(r.Body), "The turns to summarize") {
			summaries++
			continue
		}
		last = r
	}
	return last, notes, summaries
}

// TestProtectedMessagesAndTailMode counts what a compaction kept in the next request.
func TestProtectedMessagesAndTailMode(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{
		"": 20, // protect_last_n is 20
		"compression: {protect_last_n: 16}\n":                   16,
		"compression: {protect_last_n: 0}\n":                    14, // the budget of 10,000 tokens
		"compression: {tail_mode: legacy}\n":                    20, // 12,800 tokens
		"compression: {tail_mode: legacy, protect_last_n: 0}\n": 18,
		"compression: {tail_mode: legacy, target_ratio: 0.3}\n": 27, // 19,200 tokens
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			last, notes, summaries := letters(t, settings, 44, 700)
			if len(notes) != 1 || summaries != 1 {
				t.Fatalf("%d summaries, notes %q", summaries, notes)
			}
			at := 0
			for i, m := range last.Messages {
				if strings.Contains(m.Text(), "[SUMMARY OF EARLIER TURNS.") {
					at = i
				}
			}
			if got := len(last.Messages) - at - 1; at == 0 || got < want-1 || got > want+1 {
				t.Errorf("%d messages after the summary, want about %d", got, want)
			}
		})
	}
}
