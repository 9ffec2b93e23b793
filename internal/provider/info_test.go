package provider_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes"
	"hermes/internal/provider"
)

// listing is a service that lists models and refuses every request.
func listing(t *testing.T, models, refusal string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			fmt.Fprint(w, models)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, refusal)
	}))
	t.Cleanup(s.Close)
	return s
}

func mustKnow(t *testing.T, cfg provider.Config) *provider.Catalogue {
	t.Helper()
	cfg.Local = []provider.LocalServer{}
	c, err := provider.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustList(t *testing.T, c *provider.Catalogue, service string) {
	t.Helper()
	p, err := c.Provider(service)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.List(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestInfoAsksTheUserThenTheServerThenTheSnapshot(t *testing.T) {
	t.Parallel()
	s := listing(t, `{"data":[
		{"id":"anthropic/claude-sonnet-4.6","context_length":900000,"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003","input_cache_write":"0.00000375"}},
		{"id":"new/model","context_length":64000,"top_provider":{"max_completion_tokens":8000},"pricing":{"prompt":"0.0000002","completion":"0.0000008"},"architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"]},
		{"id":"odd/price","context_length":1000,"pricing":"ask"}, {"id":"router/auto","pricing":{"prompt":"-1","completion":"-1"}}]}`, "")
	dir := filepath.Join(t.TempDir(), "models")
	cfg := provider.Config{Answers: dir, Custom: map[string]provider.Custom{
		"openrouter": {BaseURL: s.URL, Models: map[string]provider.ModelSettings{"new/model": {Limits: provider.Limits{ContextLength: 32_000}}}},
		"far":        {BaseURL: "https://models.example/v1"},
	}}
	c := mustKnow(t, cfg)
	if got := c.Window("openrouter:anthropic/claude-sonnet-4.6"); got != 0 {
		t.Errorf("a local server's limit was guessed: %d", got)
	}
	mustList(t, c, "openrouter")
	for range 2 { // the second time from the file
		if got := c.Window("openrouter:anthropic/claude-sonnet-4.6"); got != 900_000 {
			t.Errorf("the server's limit is %d", got)
		}
		m := c.Info("openrouter:new/model")
		if m.ContextLength != 32_000 || m.OutputLimit != 8000 || !m.Vision || !m.Tools || m.Reasoning {
			t.Errorf("got %+v", m)
		}
		c = mustKnow(t, cfg)
	}
	if m := c.Info("far:claude-sonnet-4.6"); m.ContextLength != 1_000_000 || m.Price != nil {
		t.Errorf("the user's own service: %+v", m)
	}
	if m := c.Info("claude-sonnet-4.6"); m.ContextLength != 1_000_000 {
		t.Errorf("a bare name: %+v", m)
	}
	if m := c.Info("anthropic:claude-haiku-4-5"); m.Price == nil || m.Price.Input != hermes.USD(1) || m.Price.CacheWriteLong != hermes.USD(2) {
		t.Errorf("got %+v", m)
	}
	if m := c.Info("far:nobody-knows"); m.ContextLength != 0 || m.Price != nil || m.ID != "custom:far:nobody-knows" {
		t.Errorf("got %+v", m)
	}
}

func TestServersOfOnesOwnCostNothing(t *testing.T) {
	t.Parallel()
	c := mustKnow(t, provider.Config{Selection: provider.Selection{BaseURL: "http://127.0.0.1:9/v1", Model: "qwen3:32b", ContextLength: 5000}})
	if m := c.Info(""); m.Price == nil || m.Price.Input != 0 || m.ContextLength != 5000 {
		t.Errorf("got %+v", m)
	}
	if m := c.Info("gpt-5"); m.Price != nil {
		t.Errorf("a proxy for a paid model is free: %+v", m)
	}
	c = mustKnow(t, provider.Config{Custom: map[string]provider.Custom{"anthropic": {BaseURL: "http://10.0.0.1/v1"}}})
	if m := c.Info("anthropic:claude-opus-4-6"); m.Price == nil || m.Price.Input != hermes.USD(5) {
		t.Errorf("a paid service behind the user's own address: %+v", m)
	}
}

func TestPricesOfAServerBecomePricesAMillion(t *testing.T) {
	t.Parallel()
	s := listing(t, `{"data":[{"id":"a","pricing":{"prompt":"0.0000002","completion":"0.0000008","input_cache_read":"0.00000002"}},
		{"id":"far/claude-x","pricing":{"prompt":"0.000002","completion":"0.00001","input_cache_write":"0.0000025"}},
		{"id":"far/other","pricing":{"prompt":"0.000002","completion":"0.00001","input_cache_write":"0.0000025"}}]}`, "")
	c := mustKnow(t, provider.Config{Custom: map[string]provider.Custom{"x": {BaseURL: s.URL}}})
	p, err := c.Provider("x")
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || list[0].Price == nil {
		t.Fatalf("got %+v, %v", list, err)
	}
	want := hermes.Price{Input: 200_000, Output: 800_000, CacheRead: 20_000, CacheWrite: -1, CacheWriteLong: -1}
	if got := *list[0].Price; got.Input != want.Input || got.Output != want.Output || got.CacheRead != want.CacheRead || got.CacheWrite != -1 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// A list has one rate for writing. A Claude model's cache of an hour costs more.
	for i, long := range []hermes.Money{-1, 2_500_000} {
		if got := list[i+1].Price; got == nil || got.CacheWrite != 2_500_000 || got.CacheWriteLong != long {
			t.Errorf("%s: got %+v", list[i+1].ID, got)
		}
	}
}

func TestARefusalTeachesTheLimit(t *testing.T) {
	t.Parallel()
	s := listing(t, `{"data":[{"id":"big","context_length":100000}]}`,
		`{"error":{"message":"This model's maximum context length is 16384 tokens. However, your messages resulted in 20000 tokens."}}`)
	dir := t.TempDir()
	cfg := provider.Config{Answers: dir, Patience: provider.Patience{Retries: -1}, Custom: map[string]provider.Custom{"x": {BaseURL: s.URL}}}
	c := mustKnow(t, cfg)
	mustList(t, c, "x")
	for _, model := range []string{"big", "other"} {
		m, err := c.Model(t.Context(), "x:"+model)
		if err != nil {
			t.Fatal(err)
		}
		_, err = hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}}))
		if hermes.ClassOf(err) != hermes.ClassOverflow {
			t.Fatalf("got %v", err)
		}
		for _, c := range []*provider.Catalogue{c, mustKnow(t, cfg)} {
			if got := c.Window("x:" + model); got != 16_384 {
				t.Errorf("%s: the limit is %d", model, got)
			}
		}
	}
}

func TestADamagedCacheDoesNoHarm(t *testing.T) {
	t.Parallel()
	s := listing(t, `{"data":[{"id":"a","context_length":5000}]}`, "")
	dir := t.TempDir()
	cfg := provider.Config{Answers: dir, Custom: map[string]provider.Custom{"x": {BaseURL: s.URL}}}
	mustList(t, mustKnow(t, cfg), "x")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, damage := range []string{"", "a\t", "a\t-5\t\x00\tzz\t9", "\n\n\na", strings.Repeat("x", 1<<20)} {
		if err := os.WriteFile(files[0], []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		c := mustKnow(t, cfg)
		if got := c.Window("x:a"); got != 0 {
			t.Errorf("%.20q: the limit is %d", damage, got)
		}
		mustList(t, c, "x")
		if got := c.Window("x:a"); got != 5000 {
			t.Errorf("%.20q: after a second request the limit is %d", damage, got)
		}
	}
}
