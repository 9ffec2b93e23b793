package setting_test

import (
	"maps"
	"slices"
	"testing"

	"hermes/internal/mcp/setting"
)

func TestServersOfOtherProgramsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"Claude":  `{"theme":"dark","mcpServers":{"a":{"command":"x","args":["1"],"env":{"API_KEY":"s3cret","MODE":"fast"},"alwaysAllow":["y"]}}}`,
		"VS Code": `{"servers":{"a":{"type":"stdio","command":"x","args":["1"],"env":{"API_KEY":"s3cret","MODE":"fast"}}}}`,
		"nested":  `{"mcp":{"servers":{"a":{"command":"x","args":["1"],"env":{"API_KEY":"s3cret","MODE":"fast"}}}}}`,
	} {
		list, err := setting.ReadFile([]byte(text))
		if err != nil || len(list) != 1 {
			t.Fatal(name, err)
		}
		settings, secrets, left := setting.ForConfig("a", list["a"])
		env, _ := settings["env"].(map[string]any)
		if env["API_KEY"] != "${MCP_A_API_KEY}" || env["MODE"] != "fast" || !maps.Equal(secrets, map[string]string{"MCP_A_API_KEY": "s3cret"}) {
			t.Errorf("%s: %v %v", name, settings, secrets)
		}
		if (len(left) > 0) != (name == "Claude") {
			t.Errorf("%s: left out %v", name, left)
		}
	}
	settings, secrets, _ := setting.ForConfig("b", map[string]any{"url": "https://x", "headers": map[string]any{"Authorization": "Bearer abc", "X-Mode": "1"}})
	if h := settings["headers"].(map[string]any); h["Authorization"] != "Bearer ${MCP_B_AUTHORIZATION}" || h["X-Mode"] != "1" || secrets["MCP_B_AUTHORIZATION"] != "abc" {
		t.Errorf("%v %v", settings, secrets)
	}
	for _, text := range []string{`[]`, `{}`, `{"mcpServers":[]}`, `{"mcpServers":{"a":5}}`, `{"mcp":5}`, `x`} {
		if _, err := setting.ReadFile([]byte(text)); err == nil {
			t.Errorf("%s has servers", text)
		}
	}
}

func TestSecretsOfAServerAreItsOwn(t *testing.T) {
	got := setting.SecretsOf("a", []string{"a", "a_b", "c"}, []string{"MCP_A_KEY", "MCP_A_B_KEY", "MCP_C_KEY", "OTHER"})
	if !slices.Equal(got, []string{"MCP_A_KEY"}) {
		t.Errorf("%q", got)
	}
}
