package provider_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// wire is a network without servers. It records which keys each host was sent and
// answers status 401.
type wire struct {
	mu   sync.Mutex
	sent []string // "host key", each once
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Api-Key") + r.Header.Get("Api-Key") + r.Header.Get("X-Goog-Api-Key")
	if s := r.URL.Scheme + "://" + r.URL.Host + " " + key; !slices.Contains(w.sent, s) {
		w.sent = append(w.sent, s)
	}
	return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

// joined are the given keys and one that is stored for the pool "openai-api".
type joined struct {
	hermes.Keys
	keys []hermes.Key
	next int
}

func (j *joined) Any() bool { return len(j.keys) > 0 }
func (j *joined) Next(context.Context, string) (hermes.Key, error) {
	if j.next >= len(j.keys) {
		return hermes.Key{}, &hermes.ModelError{Class: hermes.ClassAuth, Message: "none left"}
	}
	j.next++
	return j.keys[j.next-1], nil
}
func (j *joined) Report(context.Context, hermes.Key, *hermes.ModelError) bool { return true }

func stored(pool string, given []hermes.Key) hermes.Keys {
	j := &joined{keys: slices.Clone(given)}
	if pool == "openai-api" || pool == "custom:box" {
		j.keys = append(j.keys, hermes.Key{ID: "stored", Secret: "stored", Source: "manual"})
	}
	return j
}

// TestAKeyStaysWithTheAddressOfItsEntry goes through every way from a setting to a
// request: a model, a fallback and a list of models.
func TestAKeyStaysWithTheAddressOfItsEntry(t *testing.T) {
	t.Parallel()
	const here, other = "http://127.0.0.1:9/v1", "https://other.example/v1"
	custom := func(id string, c provider.Custom) map[string]provider.Custom {
		return map[string]provider.Custom{id: c}
	}
	keyed := provider.Custom{Key: "private"}
	at := provider.Custom{BaseURL: here, Key: "private"}
	unclear := errors.New("its address is unclear")
	tests := []struct {
		name, ref string
		cfg       provider.Config
		env       vars
		sent      []string // hosts with the key each was sent
		says      string   // of the error, if nothing may be sent
	}{
		{"an entry under an alias", "openai:m", provider.Config{Custom: custom("openai", at)}, vars{"OPENAI_API_KEY": "env"}, []string{"http://127.0.0.1:9 private"}, ""},
		{"found by the real name", "openai-api:m", provider.Config{Custom: custom("openai", at)}, vars{"OPENAI_API_KEY": "env"}, []string{"http://127.0.0.1:9 private"}, ""},
		{"found by the model's name", "gpt-5", provider.Config{Custom: custom("openai", at)}, vars{"OPENAI_API_KEY": "env"}, []string{"http://127.0.0.1:9 private"}, ""},
		{"found in another case", "openai:m", provider.Config{Custom: custom("OpenAI", at)}, vars{"OPENAI_API_KEY": "env"}, []string{"http://127.0.0.1:9 private"}, ""},
		{"an own one in another case", "box:m", provider.Config{Custom: custom("Box", provider.Custom{BaseURL: other, Key: "private"})}, nil, []string{"https://other.example private"}, ""},
		{"its variable only", "openai:m", provider.Config{Custom: custom("openai", provider.Custom{BaseURL: here, KeyEnv: "BOX"})}, vars{"OPENAI_API_KEY": "env", "BOX": "box"}, []string{"http://127.0.0.1:9 box"}, ""},
		{"its variable is not set", "openai:m", provider.Config{Custom: custom("openai", provider.Custom{BaseURL: other, KeyEnv: "BOX"})}, vars{"OPENAI_API_KEY": "env"}, nil, "BOX"},
		{"the vendor's own address", "openai:m", provider.Config{Custom: custom("openai", keyed)}, vars{"OPENAI_BASE_URL": here}, []string{"https://api.openai.com private", "https://api.openai.com stored"}, ""},
		{"a variable has another address", "openrouter:a/b", provider.Config{Custom: custom("openrouter", keyed)}, vars{"OPENROUTER_BASE_URL": other}, nil, "OPENROUTER_BASE_URL"},
		{"a key in a header", "openrouter:a/b", provider.Config{Custom: custom("openrouter", provider.Custom{Header: map[string]string{"authorization": "Bearer private"}})}, vars{"OPENROUTER_BASE_URL": other, "OPENROUTER_API_KEY": "env"}, nil, "OPENROUTER_BASE_URL"},
		{"a variable has the same server", "openrouter:a/b", provider.Config{Custom: custom("openrouter", keyed)}, vars{"OPENROUTER_BASE_URL": "https://openrouter.ai/api/v2"}, []string{"https://openrouter.ai private"}, ""},
		{"a local server may be anywhere", "vllm:m", provider.Config{Custom: custom("vllm", keyed)}, vars{"VLLM_BASE_URL": other}, []string{"https://other.example private"}, ""},
		{"model.base_url is another", "", provider.Config{Selection: provider.Selection{Model: "m", Provider: "openai", BaseURL: other}, Custom: custom("openai", keyed)}, nil, nil, "model.base_url"},
		{"model.api_key goes with model.base_url", "", provider.Config{Selection: provider.Selection{Model: "m", Provider: "openai", BaseURL: other, Key: "mine"}, Custom: custom("openai", keyed)}, nil, []string{"https://other.example mine"}, ""},
		{"model.api_key and a variable", "", provider.Config{Selection: provider.Selection{Model: "a/b", Provider: "openrouter", Key: "mine"}}, vars{"OPENROUTER_BASE_URL": other}, nil, "model.api_key"},
		{"model.api_key is not for OPENAI_BASE_URL", "custom:m", provider.Config{Selection: provider.Selection{Provider: "openrouter", Key: "mine"}}, vars{"OPENAI_BASE_URL": other, "OPENAI_API_KEY": "env"}, []string{"https://other.example env"}, ""},
		{"model.api_key without an address", "m", provider.Config{Selection: provider.Selection{Key: "mine"}}, vars{"OPENAI_BASE_URL": other}, nil, "model.base_url"},
		{"provider custom means the variable", "m", provider.Config{Selection: provider.Selection{Provider: "custom", Key: "mine"}}, vars{"OPENAI_BASE_URL": other}, []string{"https://other.example mine"}, ""},
		{"the vendor's host without encryption", "", provider.Config{Selection: provider.Selection{Model: "m", BaseURL: "http://openrouter.ai/api/v1"}}, vars{"OPENROUTER_API_KEY": "env"}, []string{"http://openrouter.ai "}, ""},
		{"a fault stops its entry", "openai:m", provider.Config{Custom: custom("openai", provider.Custom{Key: "private", Fault: unclear})}, vars{"OPENAI_API_KEY": "env"}, nil, "unclear"},
		{"a fault stops the choice of a service", "", provider.Config{Custom: custom("openai", provider.Custom{Key: "private", Fault: unclear})}, vars{"OPENROUTER_API_KEY": "env"}, nil, "unclear"},
		{"a fault of the section model", "m", provider.Config{Selection: provider.Selection{Provider: "openai", Key: "mine", Fault: unclear}}, vars{"OPENAI_API_KEY": "env"}, nil, "unclear"},
		{"a fault of the section model, whose model names one", "", provider.Config{Selection: provider.Selection{Model: "openrouter:a/b", Fault: unclear}}, vars{"OPENROUTER_API_KEY": "env"}, nil, "unclear"},
		{"a fault of the section model, no provider", "gpt-5", provider.Config{Selection: provider.Selection{Key: "mine", Fault: unclear}}, vars{"OPENAI_API_KEY": "env"}, nil, "unclear"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			cfg := tt.cfg
			cfg.Getenv, cfg.Client, cfg.Retries, cfg.Keys = tt.env.get, &http.Client{Transport: w}, -1, stored
			c := mustNew(t, cfg)
			m, err := c.Model(t.Context(), tt.ref)
			if err == nil {
				_, err = hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
			}
			if tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("got error %v, want one that says %q", err, tt.says)
			}
			for _, id := range append(c.Configured(), "openai", "box", "openrouter", "custom") {
				if p, err := c.Provider(id); err == nil {
					p.List(t.Context())
				}
			}
			for _, s := range w.sent {
				host, key, _ := strings.Cut(s, " ")
				vendor := host == "https://api.openai.com" && (key != "private" || tt.cfg.Custom["openai"].BaseURL == "") ||
					host == "https://openrouter.ai" && key == "env"
				if key != "" && !vendor && !slices.Contains(tt.sent, s) {
					t.Errorf("%s was sent the key %q", host, key)
				}
			}
			for _, s := range tt.sent {
				if !slices.Contains(w.sent, s) {
					t.Errorf("got %q, want %q among them", w.sent, s)
				}
			}
		})
	}
}

func TestAFallbackGetsItsOwnKey(t *testing.T) {
	t.Parallel()
	const other = "https://other.example/v1"
	private := map[string]provider.Custom{"openai": {Key: "private"}, "box": {BaseURL: "http://127.0.0.1:9/v1", Key: "private"}}
	for name, f := range map[string]provider.Selection{
		"a service of the catalogue": {Provider: "openai", Model: "m", BaseURL: other},
		"an own service":             {Provider: "custom:box", Model: "m", BaseURL: other},
		"an own service, short":      {Provider: "box", Model: "m", BaseURL: other},
		"an unclear address":         {Provider: "box", Model: "m", Key: "private", Fault: errors.New("unclear")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &wire{}
			c := mustNew(t, provider.Config{
				Selection:   provider.Selection{Model: "first:m", Provider: "deepseek", Key: "first"},
				Custom:      private,
				Fallback:    []provider.Selection{f},
				Patience:    provider.Patience{Retries: -1},
				Credentials: provider.Credentials{Keys: stored},
				System:      provider.System{Client: &http.Client{Transport: w}, Getenv: vars{}.get},
			})
			m, err := c.Model(t.Context(), "deepseek:m")
			if err != nil {
				t.Fatal(err)
			}
			hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
			for _, s := range w.sent {
				if s != "https://api.deepseek.com first" && s != "https://other.example " {
					t.Errorf("sent %q", s)
				}
			}
		})
	}
}

// TestAKeyWithAnAddressIsUsedThere is about a login that names the address that its
// key is for. A key in a header of the settings stays here.
func TestAKeyWithAnAddressIsUsedThere(t *testing.T) {
	t.Parallel()
	w := &wire{}
	login := func(string, []hermes.Key) hermes.Keys {
		key := hermes.Key{Secret: "login", BaseURL: "https://portal.example/v1"}
		return &joined{keys: []hermes.Key{key, key}}
	}
	c := mustNew(t, provider.Config{
		Custom:      map[string]provider.Custom{"qwen-oauth": {Header: map[string]string{"x-api-key": "mine"}}},
		System:      provider.System{Client: &http.Client{Transport: w}, Getenv: vars{}.get},
		Credentials: provider.Credentials{Keys: login},
	})
	p, err := c.Provider("qwen-oauth")
	if err != nil {
		t.Fatal(err)
	}
	p.List(t.Context())
	m, err := c.Model(t.Context(), "qwen-oauth:m")
	if err != nil {
		t.Fatal(err)
	}
	hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
	if len(w.sent) != 1 || w.sent[0] != "https://portal.example login" {
		t.Errorf("sent %q", w.sent)
	}
}
