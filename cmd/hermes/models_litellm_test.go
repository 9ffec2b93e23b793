//go:build slow && unix

package main_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hermes/internal/chatserver"
)

// litellm starts the proxy before a server of ours, with the key sk-test. The model demo is
// that server; limited is always refused with a rate limit, long with an overflow.
func litellm(t *testing.T) string {
	t.Helper()
	upstream := httptest.NewServer(&chatserver.Handler{Model: "x", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		for _, m := range r.Messages {
			if m.Role == "tool" {
				return chatserver.Answer{Text: "It is on the list."}, nil
			}
		}
		return chatserver.Answer{Calls: []chatserver.Call{{ID: "c1", Type: "function", Function: chatserver.Function{Name: "todo", Arguments: `{"todos":[{"id":"1","content":"write","status":"pending"}]}`}}}}, nil
	}})
	t.Cleanup(upstream.Close)
	dir, p := t.TempDir(), port(t)
	config := fmt.Sprintf(`model_list:
- model_name: demo
  litellm_params: {model: openai/x, use_chat_completions_api: true, api_key: k, api_base: "%s/v1"}
- model_name: limited
  litellm_params: {model: openai/gpt-4o-mini, api_key: k, mock_response: "litellm.RateLimitError"}
litellm_settings: {use_chat_completions_url_for_anthropic_messages: true, num_retries: 0}
router_settings: {num_retries: 0, disable_cooldowns: true}
general_settings: {master_key: sk-test}
`, upstream.URL)
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	launch(t, []string{"HOME=" + dir, "LITELLM_LOCAL_MODEL_COST_MAP=True"}, counterpart(t, "litellm/bin/litellm"),
		"--config", file, "--host", "127.0.0.1", "--port", p, "--num_workers", "1", "--telemetry", "False")
	await(t, "http://127.0.0.1:"+p+"/health/liveliness")
	return "http://127.0.0.1:" + p
}

func TestModelsLiteLLM(t *testing.T) {
	address := litellm(t)
	for name := range protocols {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, address+"/v1", "sk-test")
			if r := h.say(t, name+":demo", "Put writing on the list."); r.status != 0 || !strings.Contains(r.out, "It is on the list.") {
				t.Errorf("status %d, answer %q", r.status, r.out)
			}
			r := newHome(t, address+"/v1", "sk-wrong-key-of-the-test").say(t, name+":demo", "Say hello.")
			refused(t, r, "sk-wrong-key", "hermes auth")
			refused(t, h.say(t, name+":nosuch", "Say hello."), "", "hermes model list")
		})
	}
}
