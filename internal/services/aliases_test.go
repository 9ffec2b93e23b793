package services_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/chatserver"
)

func TestAliasesNameModels(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENROUTER_API_KEY": "k", "ANTHROPIC_API_KEY": "a", "DEEPSEEK_API_KEY": "d"}
	models := mustCatalogue(t, env, `model:
  default: fast
  aliases: {smart: anthropic/claude-opus-4.6, mine: wrong}
model_aliases:
  sonnet: {provider: openrouter, model: x/y}
  fast: {provider: openrouter, model: google/gemini-3-flash}
  mine: {model: deepseek-chat}
  box: {base_url: "http://127.0.0.1:9/v1", model: qwen3}
`)
	for ref, want := range map[string]string{
		"": "openrouter:google/gemini-3-flash", "fast": "openrouter:google/gemini-3-flash", "smart": "anthropic:claude-opus-4-6",
		"mine": "deepseek:deepseek-chat", "box": "custom:box:qwen3", "sonnet": "openrouter:x/y", "opus": "anthropic:claude-opus-4-6", "flash": "openrouter:google/gemini-3-flash-preview",
	} {
		m, err := models.Model(t.Context(), ref)
		if err != nil || m.ID() != want {
			t.Errorf("%q: got %v, %v, want %s", ref, m, err, want)
		}
	}
}

// TestAnAliasGetsNoOtherKey is about an alias that has the name of a service.
func TestAnAliasGetsNoOtherKey(t *testing.T) {
	t.Parallel()
	var keys []string
	h := &chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hello"}, nil }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Authorization"))
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	models := mustCatalogue(t, map[string]string{"OPENAI_API_KEY": "vendor"}, `model_aliases:
  openai: {base_url: "`+s.URL+`/v1", model: m}
  box: {base_url: "`+s.URL+`/v1", model: m, api_key: alias}
providers:
  box: {base_url: "http://127.0.0.1:9/v1", api_key: entry}
`)
	for _, alias := range []string{"openai", "box"} {
		m, err := models.Model(t.Context(), alias)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}})); err != nil {
			t.Errorf("%s: %v", alias, err)
		}
	}
	if diff := cmp.Diff([]string{"", "Bearer alias"}, keys); diff != "" {
		t.Error(diff)
	}
}
