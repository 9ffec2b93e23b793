//go:build unix

package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/app"
	"hermes/internal/chatserver"
	"hermes/internal/session"
)

// canaryPhrase has no form by which it could be found: only its value is known.
const canaryPhrase = "violet-anchor-canary"

// TestNoticesOfBackgroundProcessesAreMasked runs a command in the background that
// prints a key of a known form and one that only .env has.
func TestNoticesOfBackgroundProcessesAreMasked(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "approvals: {mode: off}\n")
	writeFile(t, filepath.Join(home, ".env"), "SHOP_TOKEN="+canaryPhrase+"\n")
	const printed = "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
	writeFile(t, filepath.Join(dir, "out.txt"), "a "+printed+" b "+canaryPhrase+" c\n")
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		last := r.Messages[len(r.Messages)-1]
		if last.Role != "user" || strings.Contains(last.Text(), "Background process") {
			return chatserver.Answer{Text: last.Text()}, nil
		}
		raw, err := json.Marshal(map[string]any{"command": "cat out.txt", "background": true, "notify_on_complete": true})
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c", Type: "function", Function: chatserver.Function{Name: "terminal", Arguments: string(raw)}}}}, err
	}})
	t.Cleanup(server.Close)
	p := &playing{dir: dir}
	a := p.newApp(t, home, server.URL+"/v1", &pausing{})
	t.Cleanup(func() { _ = a.Close() })
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: dir}}, From: hermes.From{Attends: true}})
	events := mustSay(t, s, "go")
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatal("the session ended")
			}
			done, ok := e.(hermes.TurnDone)
			if !ok || !strings.Contains(done.Text, "Background process") {
				continue
			}
			if !strings.Contains(done.Text, "a ghp_16...") || strings.Contains(done.Text, printed) || strings.Contains(done.Text, canaryPhrase) {
				t.Errorf("the notice is %q", done.Text)
			}
			return
		case <-time.After(2 * time.Minute):
			t.Fatal("no notice")
		}
	}
}

// TestMemoryServicesGetNoSecrets looks at what is searched for and stored.
func TestMemoryServicesGetNoSecrets(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent []string
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		sent = append(sent, r.URL.Path+" "+string(body))
		mu.Unlock()
		_, _ = io.WriteString(w, `{"results":[]}`)
	}))
	t.Cleanup(service.Close)
	p := &playing{dir: t.TempDir()}
	server := httptest.NewServer(&chatserver.Handler{Model: "played", Decide: obeying(p)})
	t.Cleanup(server.Close)
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), "memory: {provider: mem0}\nauxiliary: {title_generation: {enabled: false}}\n")
	writeFile(t, filepath.Join(home, ".env"), "SHOP_TOKEN="+canaryPhrase+"\nMEM0_BASE_URL="+service.URL+"\nMEM0_API_KEY=key-1\n")
	a := app.New(app.Options{Home: home, BaseURL: server.URL + "/v1", BaseModel: "played", Getenv: func(string) string { return "" }})
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Workspace: hermes.Workspace{Dir: p.dir}}, From: hermes.From{Attends: true}})
	turn(t, s, "please log in to the shop with "+canaryPhrase+" and tell me what is new", &pausing{})
	if err := a.Close(); err != nil { // waits for what is sent
		t.Fatal(err)
	}
	all := strings.Join(sent, "\n")
	if len(sent) < 2 || strings.Contains(all, canaryPhrase) || !strings.Contains(all, "log in to the shop with ***") {
		t.Errorf("the service got %d requests:\n%s", len(sent), all)
	}
}
