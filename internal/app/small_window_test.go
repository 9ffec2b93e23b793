package app_test

import (
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestASmallWindowWithAModelThatCannotSummarize is a local model with 8,192 tokens,
// whose server cannot read the summaries that it writes.
func TestASmallWindowWithAModelThatCannotSummarize(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	summaries := 0
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		if strings.Contains(string(r.Body), "The turns to summarize") {
			mu.Lock()
			defer mu.Unlock()
			summaries++
			return chatserver.Answer{}, errors.New("The model produced output that does not match the expected peg-native format")
		}
		return chatserver.Answer{Text: strings.Repeat("A word of the answer. ", 90)}, nil
	}})
	t.Cleanup(server.Close)
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "model: {default: m, provider: custom, base_url: \""+server.URL+"/v1\", context_length: 8192}\nauxiliary: {title_generation: {enabled: false}, background_review: {enabled: false}}\n")
	a := openHome(t, home)
	defer a.Close()
	live := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	compacted, told := 0, 0
	for range 12 {
		for e := range mustSay(t, live, strings.Repeat("go on with the story ", 20)) {
			text := ""
			switch e := e.(type) {
			case hermes.Compacted:
				compacted++
				text = e.Note
			case hermes.Notice:
				text = e.Text
			}
			told += strings.Count(text, "tokens of this model's window")
			if done, ok := e.(hermes.TurnDone); ok {
				if done.Failure != nil {
					t.Fatal(done.Err())
				}
				break
			}
		}
	}
	st, err := live.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if summaries != 2 || compacted > 2 || told != 1 {
		t.Errorf("asked for a summary %d times, compacted %d times, told %d times; %d used of %d", summaries, compacted, told, st.Last.Prompt(), st.Threshold)
	}
}
