package app_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// letters has a session exchange messages of about so many tokens, and returns the first
// request with a summary, the notes of the compactions, and how many requests asked for one.
func letters(t *testing.T, settings string, exchanges, size int) (compacted *chatserver.Request, notes []string, summaries int) {
	t.Helper()
	s := serve(t, strings.Repeat("word", size))
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+s.URL+"/v1\", context_length: 128000}\n"+
		"auxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n"+settings)
	a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
	defer a.Close()
	live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}})
	events, cancel := subscribe(live, 0)
	defer cancel()
	for i := range exchanges {
		if err := live.Do(t.Context(), hermes.From{}, hermes.Say{Parts: []hermes.Part{{Text: fmt.Sprintf("letter %d %s", i, strings.Repeat("text", size))}}}); err != nil {
			t.Fatal(err)
		}
		for e := range events {
			if c, ok := e.(hermes.Compacted); ok {
				notes = append(notes, c.Note)
			}
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure != nil {
					t.Fatal(done.Err())
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
		if compacted == nil && strings.Contains(string(r.Body), "[SUMMARY OF EARLIER TURNS.") {
			compacted = r
		}
	}
	return compacted, notes, summaries
}

// TestProtectedMessagesAndTailMode counts what a compaction kept in the next request.
func TestProtectedMessagesAndTailMode(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{
		"":                                    20, // protect_last_n is 20
		"compression: {protect_last_n: 16}\n": 16,
		"compression: {protect_last_n: 0}\n":  14, // the budget of 10,000 tokens
		"compression: {tail_mode: legacy}\n":  20, // 12,800 tokens
		"compression: {tail_mode: legacy, protect_last_n: 0}\n": 18,
		"compression: {tail_mode: legacy, target_ratio: 0.3}\n": 27, // 19,200 tokens
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			compacted, notes, summaries := letters(t, settings, 44, 700)
			if len(notes) != 1 || summaries != 1 {
				t.Fatalf("%d summaries, notes %q", summaries, notes)
			}
			at := 0
			for i, m := range compacted.Messages {
				if strings.Contains(m.Text(), "[SUMMARY OF EARLIER TURNS.") {
					at = i
				}
			}
			if got := len(compacted.Messages) - at - 1; at == 0 || got < want-1 || got > want+1 {
				t.Errorf("%d messages after the summary, want about %d", got, want)
			}
		})
	}
}

// TestModelThresholds: the share of the window that starts a compaction is that of the
// session's model.
func TestModelThresholds(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]int{
		"": 1, // 64,000 of 128,000 tokens
		"compression: {model_thresholds: {m: 0.8}}\n":                          0,
		"compression: {model_thresholds: {'custom:m': 0.8}}\n":                 0,
		"compression: {model_thresholds: {other: 0.8}}\n":                      1,
		"compression: {model_thresholds: {m: 0.5, 'openrouter:m': 0.8}}\n":     1,
		"compression: {small_window_floor: 0.8}\n":                             0,
		"compression: {small_window_floor: 0.8, model_thresholds: {m: 0.5}}\n": 1,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			if _, notes, _ := letters(t, settings, 44, 700); len(notes) != want {
				t.Errorf("%d compactions, want %d", len(notes), want)
			}
		})
	}
}

// TestSummaryTimeouts has a model that never finishes a summary: the settings end the
// wait, for one model and for all that are tried.
func TestSummaryTimeouts(t *testing.T) {
	t.Parallel()
	for _, settings := range []string{
		"compression: {context_timeout_seconds: 0.05}\n",
		"compression: {context_total_ceiling_seconds: 0.05}\n",
		"auxiliary: {compression: {timeout: 0.05}}\n",
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			end := make(chan struct{})
			server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
				if strings.Contains(string(r.Body), "The turns to summarize") {
					<-end
				}
				return chatserver.Answer{Text: "an answer " + strings.Repeat("word ", 300)}, nil
			}})
			defer server.Close()
			defer close(end)
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+server.URL+"/v1\"}\nagent: {api_max_retries: 0}\n"+settings)
			a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
			defer a.Close()
			var id string
			for range 8 {
				id, _ = say(t, a, id, "go on")
			}
			live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: id}})
			events, cancel := subscribe(live, 0)
			defer cancel()
			if err := live.Do(t.Context(), hermes.From{}, hermes.Compress{}); err != nil {
				t.Fatal(err)
			}
			late := time.After(time.Minute)
			for {
				select {
				case e := <-events:
					if done, ok := e.(hermes.TurnDone); ok {
						if done.Failure == nil || !strings.Contains(done.Err().Error(), "which is unchanged") {
							t.Errorf("ended with %v", done.Err())
						}
						return
					}
				case <-late:
					t.Fatal("the summary is still waited for")
				}
			}
		})
	}
}

// TestProactivePrune: large old results are shortened long before the threshold if the
// setting says so.
func TestProactivePrune(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]bool{
		"": false,
		"compression: {proactive_prune_tokens: 20000}\n":                                            true,
		"compression: {proactive_prune_tokens: 60000}\n":                                            false,
		"compression: {proactive_prune_tokens: 20000, proactive_prune_min_result_chars: 500000}\n":  false,
		"compression: {proactive_prune_tokens: 20000, proactive_prune_min_reclaim_tokens: 50000}\n": false,
	} {
		t.Run(settings, func(t *testing.T) {
			t.Parallel()
			var last *chatserver.Request
			server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
				last = r
				n := 0
				for _, m := range r.Messages {
					if m.Role == "tool" {
						n++
					}
				}
				if n == 8 {
					return chatserver.Answer{Text: "read"}, nil
				}
				return chatserver.Answer{Calls: []chatserver.Call{{ID: fmt.Sprint("c", n), Type: "function", Function: chatserver.Function{Name: "read_file", Arguments: fmt.Sprintf(`{"path":"f%d.txt"}`, n)}}}}, nil
			}})
			defer server.Close()
			home, dir := t.TempDir(), t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+server.URL+"/v1\", context_length: 200000}\nauxiliary: {title_generation: {enabled: false}}\n"+settings)
			for i := range 8 {
				writeFile(t, filepath.Join(dir, fmt.Sprintf("f%d.txt", i)), strings.Repeat(fmt.Sprintf("file %d has this line\n", i), 700))
			}
			a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
			defer a.Close()
			if _, done := sayIn(t, a, dir, "read all"); done.Failure != nil {
				t.Fatal(done.Err())
			}
			pruned := strings.Contains(string(last.Body), "[read_file f0.txt:")
			if pruned != want || !strings.Contains(string(last.Body), "file 7 has this line") {
				t.Errorf("pruned: %v, want %v", pruned, want)
			}
		})
	}
}

// sayIn runs one turn of a new session in a folder.
func sayIn(t *testing.T, a *app.App, dir, text string) (id string, done hermes.TurnDone) {
	t.Helper()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}})
	return s.ID(), turn(t, s, text, &pausing{})
}
