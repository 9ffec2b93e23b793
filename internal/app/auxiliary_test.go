package app_test

import (
	"fmt"
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

// service is a model server that always gives one answer and records the requests.
type service struct {
	*httptest.Server
	mu   sync.Mutex
	keys []string
	seen []*chatserver.Request
}

func serve(t *testing.T, says string) *service {
	s := &service{}
	h := &chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, r)
		return chatserver.Answer{Text: says}, nil
	}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // it lists no models
			http.NotFound(w, r)
			return
		}
		s.mu.Lock()
		s.keys = append(s.keys, r.Header.Get("Authorization"))
		s.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// titleOf begins a session and returns the title it gets.
func titleOf(t *testing.T, home, source string, env map[string]string) string {
	t.Helper()
	a := app.New(app.Options{Home: home, Getenv: func(name string) string { return env[name] }})
	defer a.Close()
	s := mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: source}}})
	events := mustSay(t, s, "hello")
	for {
		select {
		case e := <-events:
			switch e := e.(type) {
			case hermes.Titled:
				return e.Title
			case hermes.TurnDone:
				if e.Failure != nil {
					t.Fatal(e.Err())
				}
				if source == "oneshot" {
					return ""
				}
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("no title")
		}
	}
}

func TestSideTasksAskTheModelThatIsSet(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"OPENROUTER_API_KEY": "or-key", "OPENAI_API_KEY": "oa-key"}
	for name, tt := range map[string]struct {
		config string // of the title's task; %s is the address of its own service
		source string
		env    map[string]string
		title  string
		key    string // that its service was shown
		body   string // what its request holds
	}{
		"the main model":        {config: "timeout: 30", source: "cli", title: "Said by main"},
		"an address of its own": {config: "base_url: %s\n    model: small", source: "cli", env: keys, title: "Said by own", key: "Bearer oa-key", body: `"model":"small"`},
		"never another's key":   {config: "base_url: %s\n    model: small", source: "cli", env: map[string]string{"OPENROUTER_API_KEY": "or-key"}, title: "Said by own", key: "Bearer none"},
		"its own key": {config: "base_url: %s\n    api_key: own-key\n    model: small\n    extra_body: {tier: flex}", source: "cli", env: keys,
			title: "Said by own", key: "Bearer own-key", body: `"tier":"flex"`},
		"a bound of the answer": {config: "base_url: %s\n    model: small\n    max_tokens: 321", source: "cli", env: keys, title: "Said by own", key: "Bearer oa-key",
			body: `"max_tokens":321`},
		"a fallback":                {config: "provider: nobody\n    model: x\n    fallback_chain: [{provider: other, model: y}]", source: "cli", title: "Said by main"},
		"switched off":              {config: "enabled: false", source: "oneshot"},
		"not for a single question": {config: "timeout: 30", source: "oneshot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main, own := serve(t, "Said by main"), serve(t, "Said by own")
			task := tt.config
			if strings.Contains(task, "%s") {
				task = fmt.Sprintf(task, own.URL+"/v1")
			}
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model:\n  default: m\n  provider: custom\n  base_url: "+main.URL+"/v1\nauxiliary:\n  title_generation:\n    "+task+"\n")
			if got := titleOf(t, home, tt.source, tt.env); got != tt.title {
				t.Errorf("title %q, want %q", got, tt.title)
			}
			if tt.key == "" {
				if len(own.seen) > 0 {
					t.Error("another service was asked")
				}
				return
			}
			if len(own.seen) != 1 || own.keys[0] != tt.key || !strings.Contains(string(own.seen[0].Body), tt.body) {
				t.Errorf("asked %d times with %q: %s", len(own.seen), own.keys, own.seen[0].Body)
			}
		})
	}
}

func TestFallbacksOfTheConversationAnswerForSideTasks(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"model not found","code":"model_not_found"}}`, http.StatusNotFound)
	}))
	t.Cleanup(broken.Close)
	main, fallback := serve(t, "Said by main"), serve(t, "Said by standby")
	home := t.TempDir()
	writeFile(t, filepath.Join(home, "config.yaml"), fmt.Sprintf(`model: {default: m, provider: custom, base_url: %q}
auxiliary:
  title_generation: {provider: small, model: x, fallback_chain: [{provider: spare, model: y, base_url: %q, api_key: spare-key}]}
providers:
  small: {base_url: %q}
`, main.URL+"/v1", fallback.URL+"/v1", broken.URL+"/v1"))
	if got := titleOf(t, home, "cli", nil); got != "Said by main" {
		t.Errorf("title %q: the main model goes before the task's fallbacks", got)
	}
	main.Close()
	if len(fallback.seen) != 0 {
		t.Errorf("the fallback was asked %d times", len(fallback.seen))
	}
}

// TestTheVariableNamesTheModelOfTheProcess goes over the settings, and under -m.
func TestTheVariableNamesTheModelOfTheProcess(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ variable, flag, want string }{
		"the settings": {want: "set"},
		"the variable": {variable: "asked", want: "asked"},
		"a reference":  {variable: "custom:asked", want: "asked"},
		"-m":           {variable: "asked", flag: "flag", want: "flag"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			main := serve(t, "hello")
			home := t.TempDir()
			writeFile(t, filepath.Join(home, "config.yaml"), "model:\n  default: set\n  provider: custom\n  base_url: "+main.URL+"/v1\nauxiliary: {title_generation: {enabled: false}}\n")
			a := app.New(app.Options{
				Home: home,
				Getenv: func(name string) string {
					return map[string]string{"HERMES_INFERENCE_MODEL": tt.variable}[name]
				},
			})
			defer a.Close()
			for e := range mustSay(t, mustOpen(t, a, session.Open{Run: hermes.RunSpec{Origin: hermes.Origin{Platform: "cli"}, Model: hermes.ModelChoice{Ref: tt.flag}}}), "hello") {
				if done, ok := e.(hermes.TurnDone); ok {
					if done.Failure != nil {
						t.Fatal(done.Err())
					}
					break
				}
			}
			main.mu.Lock()
			defer main.mu.Unlock()
			if len(main.seen) != 1 || !strings.Contains(string(main.seen[0].Body), `"model":"`+tt.want+`"`) {
				t.Errorf("%d requests: %s", len(main.seen), main.seen[0].Body)
			}
		})
	}
}
