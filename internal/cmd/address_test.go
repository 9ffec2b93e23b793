package cmd_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"hermes/internal/chatserver"
)

// TestAProvidersKeyGoesToItsOwnAddress writes the address as the Python program does, and
// the same as JSON.
func TestAProvidersKeyGoesToItsOwnAddress(t *testing.T) {
	t.Parallel()
	var keys atomic.Value
	handler := &chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "here"}, nil }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.Store(r.Header.Get("Authorization"))
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	for name, config := range map[string]string{
		"YAML": "model:\n  default: gpt-4o\n  provider: openai\nproviders:\n  openai:\n    api: ADDRESS/v1\n    api_key: private\n",
		"JSON": "{\n\t\"model\": {\"default\": \"openai:gpt-4o\"},\n\t\"providers\": {\"openai\": {\"api\": \"ADDRESS\\/v1\", \"api_key\": \"private\"}}\n}\n",
	} {
		p := newUser(t, "OPENAI_API_KEY=vendors")
		p.writeConfig(strings.ReplaceAll(config, "ADDRESS", s.URL))
		out, errs, status := p.run("-z", "hello")
		if status != 0 || out != "here\n" || keys.Load() != "Bearer private" {
			t.Errorf("%s: status %d, out %q, errs %q, key %v", name, status, out, errs, keys.Load())
		}
	}
}

func TestAnUnknownAddressFieldSendsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(s.Close)
	p := newUser(t, "OPENAI_API_KEY=vendors", "HTTPS_PROXY="+s.URL) // every other address is reached through the server, too
	for providers, want := range map[string][]string{
		"openai:\n    url: " + s.URL + "/v1\n    api_key: private\n":                       {"providers.openai.url", "base_url", "line 4"},
		"openai: " + s.URL + "/v1\n":                                                       {"providers.openai must be a section", "line 3"},
		"- {name: openai, base_url: \"" + s.URL + "/v1\", api_key: private}\n":             {"providers must be a section", "line 3"},
		"openai:\n  - {base_url: \"" + s.URL + "/v1\", api_key: private, model: gpt-4o}\n": {"providers.openai must be a section", "line 4"},
	} {
		p.writeConfig("model: {default: gpt-4o, provider: openai}\nproviders:\n  " + providers)
		out, errs, status := p.run("-z", "hello")
		for _, w := range append(want, "nothing was sent") {
			if status == 0 || !strings.Contains(errs, w) {
				t.Errorf("%s: status %d, out %q, errs %q, want %q", providers, status, out, errs, w)
			}
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("%d requests", n)
	}
}

func (p *user) writeConfig(text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.home, "config.yaml"), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}
