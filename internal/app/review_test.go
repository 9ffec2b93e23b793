package app_test

import (
	"cmp"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// hardWorker makes eight calls and answers; as a reviewer it stores one fact.
type hardWorker struct {
	mu      sync.Mutex
	reviews int
	tools   []string // of the reviewer
}

func (h *hardWorker) decide(r *chatserver.Request) (chatserver.Answer, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	use := func(name, arguments string) (chatserver.Answer, error) {
		id := fmt.Sprintf("c%d", len(r.Messages))
		return chatserver.Answer{Calls: []chatserver.Call{{ID: id, Type: "function", Function: chatserver.Function{Name: name, Arguments: arguments}}}}, nil
	}
	results := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results++
		}
	}
	if !strings.Contains(string(r.Messages[0].Content), "You review work") {
		if results < 8 {
			return use("again", fmt.Sprintf(`{"n":%d}`, results))
		}
		return chatserver.Answer{Text: "It is done."}, nil
	}
	if results > 0 {
		return chatserver.Answer{Text: "Kept one fact."}, nil
	}
	h.reviews++
	for _, t := range r.Tools {
		h.tools = append(h.tools, t.Function.Name)
	}
	return use("memory", `{"action":"add","target":"memory","content":"The parser builds with make all."}`)
}

// workHard runs one hard turn and returns the first notice after it, or what the
// session reported at its end.
func workHard(t *testing.T, settings string) (notice, home string, h *hardWorker) {
	t.Helper()
	h = &hardWorker{}
	server := httptest.NewServer(&chatserver.Handler{Model: "m", Decide: h.decide})
	t.Cleanup(server.Close)
	home = t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), `
model: {default: m, provider: custom, base_url: "`+server.URL+`/v1"}
spend: {prices: {m: {input: 1, output: 1, cache_read: 1, cache_write: 1}}}
auxiliary:
  title_generation: {enabled: false}
`+cmp.Or(settings, "  background_review: {defer: never}\n"))
	a := app.New(app.Options{Home: home, Extra: []hermes.Toolset{looping{}}, Getenv: func(string) string { return "" }})
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: t.TempDir()}}, From: hermes.From{Attends: true}})
	events := mustSay(t, s, "build the parser")
	done := false
	for e := range events {
		switch e := e.(type) {
		case hermes.TurnDone:
			if done = true; strings.Contains(settings, "background_review") {
				return "", home, h
			}
		case hermes.Notice:
			if done {
				return e.Text, home, h
			}
		}
	}
	t.Fatal("the session ended")
	return "", "", nil
}

func TestHardWorkIsReviewed(t *testing.T) {
	t.Parallel()
	notice, home, h := workHard(t, "")
	for _, want := range []string{"changed: memory", "tokens, $0.", "hermes undo"} {
		if !strings.Contains(notice, want) {
			t.Errorf("%q does not say %q", notice, want)
		}
	}
	if got := strings.Join(h.tools, " "); h.reviews != 1 || got != "memory skill_manage skill_view skills_list" {
		t.Errorf("%d reviews with the tools %q", h.reviews, got)
	}
	text, err := os.ReadFile(filepath.Join(home, "memories", "MEMORY.md"))
	if err != nil || !strings.Contains(string(text), "The parser builds with make all.") {
		t.Errorf("memory holds %q, %v", text, err)
	}
	undone, err := os.ReadDir(filepath.Join(home, "undo"))
	if err != nil || len(undone) == 0 {
		t.Errorf("the change cannot be undone: %v", err)
	}
	if _, _, h = workHard(t, "  background_review: {enabled: false}\n"); h.reviews != 0 {
		t.Error("it was reviewed although reviews are off")
	}
}
