package services_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/auxiliary"
	"hermes/internal/config"
	"hermes/internal/home"
	"hermes/internal/oauth"
	"hermes/internal/provider"
	"hermes/internal/services"
)

// mustConfig reads settings from a new home with these variables.
func mustConfig(t *testing.T, env map[string]string, settings string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.Load(home.At(dir), config.Options{LookupEnv: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}})
}

// mustCatalogue makes the services of settings.
func mustCatalogue(t *testing.T, env map[string]string, settings string) *provider.Catalogue {
	t.Helper()
	pc, err := services.Providers(mustConfig(t, env, settings))
	if err != nil {
		t.Fatal(err)
	}
	models, err := provider.New(pc)
	if err != nil {
		t.Fatal(err)
	}
	return models
}

func TestTheUserSaysWhatAModelSees(t *testing.T) {
	t.Parallel()
	models := mustCatalogue(t, nil, `
providers:
  box: {base_url: "http://127.0.0.1:9/v1", models: {seeing: {supports_vision: true}, blind: {context_length: 1000}}}
`)
	for ref, want := range map[string]bool{"custom:box:seeing": true, "custom:box:blind": false} {
		if got := models.Info(ref).Vision; got != want {
			t.Errorf("%s sees is %t", ref, got)
		}
	}
}

func TestAFaultySectionIsAnError(t *testing.T) {
	t.Parallel()
	for settings, says := range map[string]string{
		"providers: {box: {base_url: 'http://127.0.0.1:9/v1', ssl_ca_cert: /gone.pem}}": "providers.box.ssl_ca_cert",
	} {
		if _, err := services.Providers(mustConfig(t, nil, settings)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestTask(t *testing.T) {
	t.Parallel()
	cfg := mustConfig(t, nil, `
auxiliary:
  background_review: {provider: openrouter, model: big}
  title_generation: {timeout: 7, fallback_chain: [{provider: zai, model: glm}]}
`)
	if got := services.Task(cfg, auxiliary.Replay).Choice; got.Provider != "openrouter" || got.Model != "big" {
		t.Errorf("replays without a model of their own ask %+v", got)
	}
	title := services.Task(cfg, auxiliary.TitleTask)
	if diff := cmp.Diff([]auxiliary.Choice{{Provider: "zai", Model: "glm"}}, title.Fallback); diff != "" || title.Timeout != 7*time.Second || title.Silence {
		t.Errorf("the title: %+v, %s", title, diff)
	}
	if c := services.Task(cfg, auxiliary.Compression); !c.Silence || !c.Patient || c.Timeout == 0 {
		t.Errorf("compression: %+v", c)
	}
}

func TestKeyOf(t *testing.T) {
	t.Parallel()
	plain, signed := services.KeyOf(mustConfig(t, nil, "providers: {box: {base_url: 'http://127.0.0.1:9/v1', key_env: MY_BOX}}")), services.KeyOf(mustConfig(t, nil, "model: {provider: bedrock}"))
	for name, want := range map[string]string{"OPENROUTER_API_KEY": "a key of OpenRouter", "openrouter_api_key_2": "a key of OpenRouter", "AWS_SECRET_ACCESS_KEY": "", "PATH": ""} {
		if got := plain(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := plain("MY_BOX"); !strings.HasPrefix(got, "the key that ") {
		t.Errorf("a variable of the settings is %q", got)
	}
	if got := signed("AWS_SECRET_ACCESS_KEY"); got != "the key of Amazon Bedrock" {
		t.Errorf("the key that signs calls is %q", got)
	}
}

func TestTheSettingsOverrideALogin(t *testing.T) {
	t.Parallel()
	cfg := mustConfig(t, nil, "providers:\n  openrouter:\n    oauth: {redirect_uri: 'http://localhost:4711/back'}\n")
	logins := services.Logins{Config: cfg}
	l, _ := logins.Of("openrouter")
	if l.Redirect != "http://localhost:4711/back" || l.Form != oauth.FormKey || len(l.Lacks()) > 0 {
		t.Errorf("%+v", l)
	}
	if l, complete := logins.Of("zai"); complete || len(logins.Lacks("zai")) == 0 {
		t.Errorf("an invented login: %+v", l)
	}
}
