package app_test

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// TestRecallKeepsThePrefix has a second session recall what a first one said,
// with a resume in the middle: each request begins with the bytes of the one
// before, and the prompt shows the memory as it was when the session began.
func TestRecallKeepsThePrefix(t *testing.T) {
	t.Parallel()
	var bodies [][]byte
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		bodies = append(bodies, bytes.Clone(r.Body))
		last := r.Messages[len(r.Messages)-1]
		if len(bodies) == 2 && last.Role == "user" {
			return chatserver.Answer{Calls: []chatserver.Call{{ID: "c1", Type: "function", Function: chatserver.Function{
				Name: "memory", Arguments: `{"target":"memory","action":"add","content":"The deploy host is called osprey"}`,
			}}}}, nil
		}
		return chatserver.Answer{Text: fmt.Sprintf("answer %d\n<memory-context>\nrepeated\n</memory-context>\nend", len(bodies))}, nil
	}})
	defer server.Close()
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "memory:\n  provider: local\n")
	if err := os.MkdirAll(filepath.Join(home, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "memories", "USER.md"), "Name: Ada\n")
	open := func() *app.App {
		return app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "played", Getenv: func(string) string { return "" }})
	}
	quiet := &pausing{entered: make(chan struct{}), release: make(chan struct{})}
	conversation := func(a *app.App, id string, texts ...string) string {
		t.Helper()
		s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Session: id, Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}})
		for _, text := range texts {
			if done := turn(t, s, text, quiet); strings.Contains(done.Text, "repeated") {
				t.Errorf("the answer repeats recalled memory: %q", done.Text)
			}
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		return s.ID()
	}
	conversation(open(), "", "The staging database heron listens on port 5433.", "Please remember where we deploy to.")
	first := len(bodies)
	id := conversation(open(), "", "On which port does the staging database heron listen?", "And who are you?")
	conversation(open(), id, "Which database did I mean, the staging database heron?", "Thanks a lot for all of this.")

	for i := first; i < len(bodies); i++ {
		if i == first {
			continue
		}
		before := bytes.TrimRight(bodies[i-1], "]}")
		if !bytes.HasPrefix(bodies[i], before) {
			t.Fatalf("request %d changes the prefix", i)
		}
	}
	opening := string(bodies[first])
	for _, want := range []string{"Name: Ada", "The deploy host is called osprey", "chars]", "memory-context", "port 5433"} {
		if !strings.Contains(opening, want) {
			t.Errorf("the first request of the second session lacks %q", want)
		}
	}
	if strings.Contains(string(bodies[0]), "osprey") || strings.Contains(string(bodies[first-1]), "MEMORY (your personal notes)") {
		t.Error("the prompt of a running session changed")
	}
}

// TestIgnoreRulesOmitsMemory checks the whole request.
func TestIgnoreRulesOmitsMemory(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "memories"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(home, "memories", "MEMORY.md"), "The deploy host is called osprey\n")
	for _, ignore := range []bool{false, true} {
		a := app.New(app.Options{Home: home, Getenv: func(string) string { return "" }})
		p, specs, err := a.Measure(t.Context(), hermes.RunSpec{Workspace: hermes.Workspace{Dir: dir}, Prompt: hermes.PromptChoice{IgnoreRules: ignore}})
		if err != nil {
			t.Fatal(err)
		}
		tool := false
		for _, s := range specs {
			tool = tool || s.Name == "memory"
		}
		if shown := strings.Contains(p.Text(), "osprey"); shown == ignore || tool == ignore {
			t.Errorf("ignoring rules %v: memory shown %v, tool offered %v", ignore, shown, tool)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
