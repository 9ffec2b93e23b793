package responses_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/responses"
)

// sent returns the exchange that a request becomes.
func sent(t *testing.T, change func(*responses.Config), r *hermes.Request) *modelsuite.Recorded {
	t.Helper()
	rt := &modelsuite.Recorded{T: t, File: "length"}
	cfg := config(rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(responses.New(cfg).Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(rt.Body) {
		t.Fatalf("no JSON: %s", rt.Body)
	}
	return rt
}

func conversation() []hermes.Message {
	return []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "look <here>"}, {Text: "recalled", Hidden: true}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I will."}},
			Reasoning: []hermes.Reasoning{{Protocol: "responses", Text: "hm", Opaque: "enc", ID: "rs_1"}, {Protocol: "responses", Opaque: "enc2"}, {Protocol: "responses", Text: "on it", Signature: "commentary"}, {Protocol: "anthropic", Text: "x", Signature: "s"}, {Text: "unsigned"}},
			Calls:     []hermes.ToolCall{{ID: "call_a|fc_1", Name: "read_file", Arguments: `{"path":"<x>"}`}, {ID: "b", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "call_a|fc_1", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b", Failed: true},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}},
	}
}

var tools = []hermes.Spec{{Name: "todo", Description: "Plans <it>."}}

const head = `{"model":"gpt-5.2","store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"s1",` +
	`"tools":[{"type":"function","name":"todo","description":"Plans <it>.","parameters":{"type":"object","properties":{}},"strict":false}],`

const middle = `{"type":"message","role":"user","content":[{"type":"input_text","text":"look <here>\nrecalled"}]},` +
	`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"enc"},{"type":"reasoning","summary":[],"encrypted_content":"enc2"},` +
	`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"on it"}],"phase":"commentary"},` +
	`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]},` +
	`{"type":"function_call","call_id":"call_a","name":"read_file","arguments":"{\"path\":\"<x>\"}"},{"type":"function_call","call_id":"b","name":"todo","arguments":"{}"},` +
	`{"type":"function_call_output","call_id":"call_a","output":[{"type":"input_text","text":"1|x"},{"type":"input_image","image_url":"data:image/jpeg;base64,anBn"}]},` +
	`{"type":"function_call_output","call_id":"b","output":"(no output)"},` +
	`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is x."}]},` +
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"and this?"},{"type":"input_image","image_url":"https://x/y.png"}]}]`

func TestRequestBody(t *testing.T) {
	t.Parallel()
	r := &hermes.Request{System: "You.", Messages: conversation(), Tools: tools, MaxTokens: 100, Session: "s1", WordsOnly: true, Effort: hermes.EffortMax}
	tests := []struct {
		name   string
		change func(*responses.Config)
		want   string
	}{
		{"plain", nil, head + `"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"You."}]},` + middle +
			`,"tool_choice":"none","reasoning":{"effort":"xhigh","summary":"auto"},"max_output_tokens":100}`},
		{"codex", func(c *responses.Config) { c.Quirks.Codex = true }, head + `"instructions":"You.","input":[` + middle +
			`,"tool_choice":"none","reasoning":{"effort":"xhigh","summary":"auto"}}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(string(sent(t, tt.change, r).Body), tt.want); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestRequestsGrow(t *testing.T) {
	t.Parallel()
	all := conversation()
	var before string
	for n := 1; n <= len(all); n++ {
		if n == 2 || n == 3 {
			continue // open calls are never sent
		}
		body := string(sent(t, nil, &hermes.Request{System: "You.", Messages: all[:n], Tools: tools, Session: "s1", MaxTokens: n, Effort: hermes.EffortLow}).Body)
		whole := body[:strings.LastIndex(body, `],"reasoning"`)]
		if !strings.HasPrefix(whole, before) {
			t.Errorf("%d messages: %s\ndoes not begin with\n%s", n, whole, before)
		}
		before = whole
	}
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	half := 0.5
	tests := []struct {
		model  string
		effort hermes.Effort
		tail   string
		role   string
	}{
		{"gpt-5", hermes.EffortNone, `,"reasoning":{"effort":"minimal","summary":"auto"}}`, "developer"},
		{"gpt-5", hermes.EffortMax, `,"reasoning":{"effort":"high","summary":"auto"}}`, "developer"},
		{"gpt-5-mini", hermes.EffortMinimal, `,"reasoning":{"effort":"minimal","summary":"auto"}}`, "developer"},
		{"gpt-5.1", hermes.EffortNone, `,"reasoning":{"effort":"none"}}`, "developer"},
		{"gpt-5.1", hermes.EffortMinimal, `,"reasoning":{"effort":"none"}}`, "developer"},
		{"gpt-5.1", hermes.EffortXHigh, `,"reasoning":{"effort":"high","summary":"auto"}}`, "developer"},
		{"gpt-5.1-codex-max", hermes.EffortXHigh, `,"reasoning":{"effort":"xhigh","summary":"auto"}}`, "developer"},
		{"gpt-5.1-codex", hermes.EffortNone, `,"reasoning":{"effort":"low","summary":"auto"}}`, "developer"},
		{"openai/gpt-5.2", hermes.EffortMax, `,"reasoning":{"effort":"xhigh","summary":"auto"}}`, "developer"},
		{"gpt-6", hermes.EffortLow, `,"reasoning":{"effort":"low","summary":"auto"}}`, "developer"},
		{"gpt-5-pro", hermes.EffortLow, `,"reasoning":{"effort":"high","summary":"auto"}}`, "developer"},
		{"gpt-5.2-pro", hermes.EffortLow, `,"reasoning":{"effort":"medium","summary":"auto"}}`, "developer"},
		{"gpt-5.2", "", `,"reasoning":{"summary":"auto"}}`, "developer"},
		{"codex-mini-latest", hermes.EffortHigh, `,"reasoning":{"effort":"high","summary":"auto"}}`, "developer"},
		{"gpt-5-chat-latest", hermes.EffortHigh, `,"temperature":0.5}`, "developer"},
		{"o3", hermes.EffortNone, `,"reasoning":{"effort":"low","summary":"auto"}}`, "system"},
		{"o4-mini", hermes.EffortXHigh, `,"reasoning":{"effort":"high","summary":"auto"}}`, "system"},
		{"gpt-4.1", hermes.EffortHigh, `,"temperature":0.5}`, "system"},
		{"grok-4", hermes.EffortHigh, `,"reasoning":{"summary":"auto"}}`, "system"},
		{"some-llama", hermes.EffortHigh, `,"temperature":0.5}`, "system"},
	}
	for _, tt := range tests {
		body := string(sent(t, func(c *responses.Config) { c.Model = tt.model }, &hermes.Request{System: "You.", Messages: []hermes.Message{hermes.UserText("x")}, Effort: tt.effort, Temperature: &half}).Body)
		if !strings.HasSuffix(body, "]"+tt.tail) || !strings.Contains(body, `"role":"`+tt.role+`"`) {
			t.Errorf("%s at %q: %s", tt.model, tt.effort, body)
		}
		reasons := strings.Contains(tt.tail, "reasoning")
		if strings.Contains(body, "encrypted_content") != reasons {
			t.Errorf("%s: asks for encrypted reasoning: %v", tt.model, !reasons)
		}
	}
}

func TestHeadersAndAddresses(t *testing.T) {
	t.Parallel()
	claims := base64.RawURLEncoding.EncodeToString([]byte(`{"https://api.openai.com/auth":{"chatgpt_account_id":"acc-7"}}`))
	r := &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Session: strings.Repeat("long", 20)}
	x := sent(t, func(c *responses.Config) {
		c.Quirks.Codex, c.Quirks.SessionHeader = true, "session_id"
		c.Key = hermes.Secret("h." + claims + ".s")
		c.BaseURL = "https://chatgpt.invalid/backend-api/codex/"
	}, r)
	if x.URL != "https://chatgpt.invalid/backend-api/codex/responses" || x.Header.Get("ChatGPT-Account-Id") != "acc-7" || x.Header.Get("session_id") != r.Session || x.Header.Get("Authorization") != "Bearer h."+claims+".s" {
		t.Errorf("%s %v", x.URL, x.Header)
	}
	var body struct {
		Key string `json:"prompt_cache_key"`
	}
	if err := json.Unmarshal(x.Body, &body); err != nil || len(body.Key) != 64 {
		t.Errorf("cache key %q", body.Key)
	}
	x = sent(t, func(c *responses.Config) {
		c.Quirks.KeyHeader, c.Quirks.NoStream = "api-key", true
		c.Quirks.Extra = map[string]json.RawMessage{"service_tier": json.RawMessage(`"flex"`)}
		c.BaseURL = "https://r.invalid/openai/v1?api-version=preview"
	}, &hermes.Request{Messages: r.Messages, Effort: hermes.EffortLow, MaxTokens: 1})
	if x.URL != "https://r.invalid/openai/v1/responses?api-version=preview" || x.Header.Get("Api-Key") != "sk-secret-123" || x.Header.Get("Authorization") != "" {
		t.Errorf("%s %v", x.URL, x.Header)
	}
	const want = `{"model":"gpt-5.2","store":false,"stream":false,"include":["reasoning.encrypted_content"],"service_tier":"flex","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],"reasoning":{"effort":"low"},"max_output_tokens":16}`
	if got := string(x.Body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
