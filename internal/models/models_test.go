package models_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/auxiliary"
	"hermes/internal/chatserver"
	"hermes/internal/models"
	"hermes/internal/provider"
)

// service is a model server that remembers the key of the last request.
func service(t *testing.T) (url string, key *atomic.Value) {
	t.Helper()
	key = &atomic.Value{}
	h := &chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return chatserver.Answer{Text: "hello"}, nil }}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet { // it lists no models
			http.NotFound(w, r)
			return
		}
		key.Store(r.Header.Get("Authorization"))
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", key
}

func of(c provider.Config, env map[string]string) *models.Models {
	c.Getenv = func(name string) string { return env[name] }
	return models.New(models.Config{Providers: func() (provider.Config, error) { return c, nil }})
}

func TestASideTaskNeverGetsTheKeyOfAnotherService(t *testing.T) {
	t.Parallel()
	main, mainKey := service(t)
	own, ownKey := service(t)
	entry, entryKey := service(t)
	pc := provider.Config{
		Selection: provider.Selection{Model: "m", Provider: "custom", BaseURL: main, Key: "main-key"}, Patience: provider.Patience{Retries: -1},
		Custom: map[string]provider.Custom{"box": {BaseURL: entry, Key: "box-key", Model: "m"}},
	}
	for name, tt := range map[string]struct {
		choice auxiliary.Choice
		env    map[string]string
		asked  *atomic.Value
		key    string
	}{
		"the main model":           {choice: auxiliary.Choice{}, asked: mainKey, key: "Bearer main-key"},
		"fields of the main model": {choice: auxiliary.Choice{Extra: map[string]any{"tier": "flex"}}, asked: mainKey, key: "Bearer main-key"},
		"another entry":            {choice: auxiliary.Choice{Provider: "box", Model: "m"}, asked: entryKey, key: "Bearer box-key"},
		"fields of another entry":  {choice: auxiliary.Choice{Provider: "box", Model: "m", Extra: map[string]any{"tier": "flex"}}, asked: entryKey, key: "Bearer box-key"},
		"a key of its own":         {choice: auxiliary.Choice{Provider: "box", Model: "m", Key: "task-key"}, asked: entryKey, key: "Bearer task-key"},
		"an address without a key": {choice: auxiliary.Choice{BaseURL: own, Model: "m"}, asked: ownKey, key: "Bearer none"},
		"an address and a variable": {choice: auxiliary.Choice{BaseURL: own, Model: "m", KeyEnv: "MINE"}, env: map[string]string{"MINE": "mine", "OPENAI_API_KEY": "oa"},
			asked: ownKey, key: "Bearer mine"},
		"an address with the general variable": {choice: auxiliary.Choice{BaseURL: own, Model: "m"}, env: map[string]string{"OPENAI_API_KEY": "oa", "OPENROUTER_API_KEY": "or"},
			asked: ownKey, key: "Bearer oa"},
	} {
		all := of(pc, tt.env)
		tt.asked.Store("")
		m, err := all.Side(t.Context(), tt.choice)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := tt.asked.Load(); got != tt.key {
			t.Errorf("%s: the service got %q, want %q", name, got, tt.key)
		}
	}
	fault := errors.New("its address is unclear")
	if _, err := of(pc, nil).Side(t.Context(), auxiliary.Choice{Fault: fault}); !errors.Is(err, fault) {
		t.Errorf("a faulty choice: %v", err)
	}
}

func TestARunMayNameItsService(t *testing.T) {
	t.Parallel()
	main, _ := service(t)
	pc := provider.Config{
		Selection: provider.Selection{Model: "custom:m", BaseURL: main, Key: "k"},
		Custom:    map[string]provider.Custom{"box": {BaseURL: "http://127.0.0.1:9/v1", Model: "big"}},
	}
	all := of(pc, nil)
	fixed := models.New(models.Config{Providers: func() (provider.Config, error) { return pc, nil }, Fixed: true})
	for _, tt := range []struct {
		all    *models.Models
		choice hermes.ModelChoice
		want   string
	}{
		{all, hermes.ModelChoice{}, "custom:m"},
		{all, hermes.ModelChoice{Ref: "other"}, "custom:other"},
		{all, hermes.ModelChoice{Provider: "box"}, "custom:box:big"},
		{all, hermes.ModelChoice{Provider: "box", Ref: "small"}, "custom:box:small"},
		{fixed, hermes.ModelChoice{}, "custom:m"},
	} {
		m, err := tt.all.Model(t.Context(), tt.choice)
		if err != nil || m.ID() != tt.want {
			t.Errorf("%+v is %s, %v, want %s", tt.choice, m.ID(), err, tt.want)
		}
	}
}

func TestLastResort(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENROUTER_API_KEY": "k", "ZAI_API_KEY": "k", "GROQ_API_KEY": "k"} // groq has no default model
	pc := provider.Config{Selection: provider.Selection{Model: "m", Provider: "custom", BaseURL: "http://127.0.0.1:9/v1"}}
	got := of(pc, env).LastResort("anthropic", "custom", "openrouter", "*")
	want := []auxiliary.Choice{{Provider: "custom", Model: "m"}, {Provider: "openrouter"}, {Provider: "zai"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	pc.Getenv = func(name string) string { return env[name] }
	if got := models.New(models.Config{Providers: func() (provider.Config, error) { return pc, nil }, Fixed: true}).LastResort("*"); got != nil {
		t.Errorf("a program with one service has %v", got)
	}
}
