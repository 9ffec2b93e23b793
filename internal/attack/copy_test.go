package attack

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestTheCopyOfTheSettingsHasNoSecrets(t *testing.T) {
	t.Parallel()
	const known = "violet-anchor-canary"
	mask := func(s string) string { return strings.ReplaceAll(s, known, "***") }
	src := `# old key: sk-old-1234567890
model:
  provider: custom
  api_key: Zx9-short   # mine: hunter2
  max_tokens: 4096
  base_url: https://user:violet-anchor-canary@x.example
providers:
  - {name: a, token: hunter2, key_env: A_KEY}
mcp_servers:
  x: {env: {GITHUB_TOKEN: hunter2}, headers: {Authorization: Bearer hunter2}, args: [--key, violet-anchor-canary]}
terminal: {sandbox: "off", env_passthrough: [A_KEY]}
security: {redact_secrets: false}
`
	out := string(withoutSecrets([]byte(src), mask))
	for _, secret := range []string{"sk-old", "Zx9-short", "hunter2", known} {
		if strings.Contains(out, secret) {
			t.Errorf("it has %s:\n%s", secret, out)
		}
	}
	var set map[string]any
	if err := yaml.Unmarshal([]byte(out), &set); err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"provider: custom", "max_tokens: 4096", "sandbox: \"off\"", "env_passthrough: [A_KEY]", "redact_secrets: false", "key_env: A_KEY"} {
		if !strings.Contains(out, kept) {
			t.Errorf("it lacks %s:\n%s", kept, out)
		}
	}
	if out := withoutSecrets(nil, mask); len(out) > 0 {
		t.Errorf("%q", out)
	}
	if out := string(withoutSecrets([]byte("a: [ "+known), mask)); strings.Contains(out, known) {
		t.Errorf("%q", out)
	}
}
