package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/config"
)

const keyed = `
model: {api_key: "${MAIN_KEY}"}
providers:
  box: {base_url: http://box, key_env: BOX_KEY, headers: {Authorization: "Bearer ${BOX_HEADER}", X-Note: "${BOX_NOTE}"}}
  pin: {base_url: http://pin, api_key: inline-1234, oauth: {client_secret: "${env:PIN_SECRET}"}}
fallback_providers:
  - {provider: box, key_env: SPARE_KEY}
model_aliases: {small: {model: m, api_key: "${ALIAS_KEY}"}}
auxiliary: {vision: {api_key: "${VISION_KEY}"}}
platforms:
  telegram: {token: "${TG}", extra: {api_hash: h, webhook_secret: "${TG_HOOK}"}}
mcp_servers: {shop: {env: {SHOP_TOKEN: "${SHOP_TOKEN}"}, headers: {Authorization: "Bearer mcp-5678"}}}
skills: {config: {shop: {token: "${SKILL_TOKEN}"}}}
terminal: {docker_env: {CRATE_TOKEN: "${CRATE_TOKEN}"}}
`

func TestKeyVariablesOfTheSettings(t *testing.T) {
	t.Parallel()
	got := load(setup(t, keyed, ""), "HERMES_MODEL_API_KEY", "x").KeyVariables()
	want := map[string]string{
		"MAIN_KEY": "model.api_key", "BOX_KEY": "providers.box.key_env", "BOX_HEADER": "providers.box.headers.Authorization",
		"PIN_SECRET": "providers.pin.oauth.client_secret", "SPARE_KEY": "fallback_providers.0.key_env", "ALIAS_KEY": "model_aliases.small.api_key",
		"VISION_KEY": "auxiliary.vision.api_key", "TG": "platforms.telegram.token", "TG_HOOK": "platforms.telegram.extra.webhook_secret",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestSecretsOfTheSettings(t *testing.T) {
	t.Parallel()
	c := load(setup(t, keyed, "SHOP_TOKEN=shop-token-1\nPLAIN=visible\n"), "MAIN_KEY", "main-1", "TG", "tg-1", "BOX_HEADER", "header-1", "SHOP_TOKEN", "shop-token-2")
	got := c.Secrets()
	for _, want := range []string{"main-1", "inline-1234", "tg-1", "Bearer header-1", "header-1", "shop-token-1", "shop-token-2", "mcp-5678"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among the secrets %q", want, got)
		}
	}
	if slices.Contains(got, "visible") || slices.Contains(got, "h") || slices.Contains(got, "") {
		t.Errorf("got %q", got)
	}
	services := c.ServiceKeys()
	if !slices.Contains(services, "inline-1234") || slices.Contains(services, "mcp-5678") || slices.Contains(services, "shop-token-2") {
		t.Errorf("keys of services: %q; those of child processes are not among them", services)
	}
}

// TestPlaceholdersOfLocalServicesAreNoSecrets: a local server wants a key and does not look at it. Masked,
// "ollama" would be missing in every output.
func TestPlaceholdersOfLocalServicesAreNoSecrets(t *testing.T) {
	t.Parallel()
	const settings = `
model: {base_url: "http://localhost:8080/v1", api_key: not-needed}
providers:
  box: {base_url: "http://192.168.1.5:8000/v1", api_key: ollama}
  one: {base_url: "http://127.0.0.1:1234/v1", api_key: 127.0.0.1}
  two: {base_url: "http://box.local/v1", key_env: TWO_KEY}
  three: {base_url: "http://[::1]:1/v1", api_key: sk-local-0123456789}
  four: {base_url: "http://10.0.0.7/v1", api_key: correcthorsebatterystaple}
  five: {base_url: "http://10.0.0.8/v1", api_key: swordfish}
  ollama: {api_key: EMPTY}
  far: {base_url: "https://api.example.org/v1", api_key: lettersonly}
  near: {base_url: "http://localhost:2/v1", key_env: SHARED_KEY}
  away: {base_url: "https://api.example.com/v1", key_env: SHARED_KEY}
fallback_providers:
  - {provider: box, api_key: dummy}
auxiliary: {vision: {base_url: "http://localhost:9/v1", api_key: "${EYE_KEY}"}}
platforms:
  telegram: {token: swordfish}
`
	c := load(setup(t, settings, "TWO_KEY=sk-no-key-required\nSHARED_KEY=correcthorse\nSMTP_PASSWORD=correcthorse\nEYE_KEY=password\nLM_API_KEY=lm-studio\n"))
	for _, got := range [][]string{c.Secrets(), c.ServiceKeys()} {
		for _, word := range []string{"not-needed", "ollama", "127.0.0.1", "EMPTY", "dummy", "sk-no-key-required", "lm-studio", "password"} {
			if slices.Contains(got, word) {
				t.Errorf("%q is among the secrets", word)
			}
		}
	}
	for _, want := range []string{"sk-local-0123456789", "correcthorsebatterystaple", "lettersonly", "correcthorse", "swordfish"} {
		if got := c.Secrets(); !slices.Contains(got, want) {
			t.Errorf("%q is not among the secrets %q", want, got)
		}
	}
	if !c.Placeholder("ollama") || c.Placeholder("swordfish") || c.Placeholder("lettersonly") || c.PlaceholderOf("SHARED_KEY", "correcthorse") || !c.PlaceholderOf("EYE_KEY", "password") {
		t.Error("a placeholder is taken for a secret, or the other way round")
	}
}

func TestKeysThatAreNotPassedOnAreReported(t *testing.T) {
	t.Parallel()
	h := setup(t, "terminal:\n  env_passthrough:\n    - LANG\n    - TELEGRAM_BOT_TOKEN\n  docker_forward_env: [BOX_KEY]\n", "")
	c := config.Load(h, config.Options{Managed: "-", LookupEnv: lookup(), KeyOf: func(*config.Config) func(string) string {
		return func(name string) string {
			return map[string]string{"TELEGRAM_BOT_TOKEN": "a key of Telegram", "BOX_KEY": "the key of box"}[name]
		}
	}})
	var got []string
	for _, text := range texts(c.Warnings()) {
		if strings.Contains(text, "never passed") {
			got = append(got, text)
		}
	}
	want := []string{
		"config.yaml, line 3: terminal.env_passthrough names TELEGRAM_BOT_TOKEN, which holds a key of Telegram; it is never passed to commands. Remove it; give commands a key of their own in another variable.",
		"config.yaml, line 5: terminal.docker_forward_env names BOX_KEY, which holds the key of box; it is never passed to commands. Remove it; give commands a key of their own in another variable.",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeOfSpendLooksAtTheKeysOfOtherSections(t *testing.T) {
	t.Parallel()
	h := setup(t, "providers: {box: {base_url: 'http://127.0.0.1:9/v1', key_env: BOX_KEY}}\nterminal: {env_passthrough: [BOX_KEY]}\n", "")
	c := config.Load(h, config.Options{Managed: "-", LookupEnv: lookup(), KeyOf: func(c *config.Config) func(string) string {
		return func(name string) string { return c.KeyVariables()[name] }
	}})
	if _, err := c.Set(t.Context(), "spend.turn.usd", "1"); err != nil {
		t.Error(err)
	}
}
