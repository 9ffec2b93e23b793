package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/gemini"
)

// sent returns the exchange that a request becomes.
func sent(t *testing.T, change func(*gemini.Config), r *hermes.Request) *modelsuite.Recorded {
	t.Helper()
	rt := &modelsuite.Recorded{T: t, File: "length"}
	cfg := config(rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(gemini.New(cfg).Stream(t.Context(), r)); err != nil {
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
			Reasoning: []hermes.Reasoning{{Protocol: "gemini", Text: "hm", Signature: "s-text"}, {Protocol: "anthropic", Text: "x", Signature: "s"}},
			Calls:     []hermes.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"<x>"}`, Signature: "s-call"}, {ID: "b|1", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "a", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b|1", Failed: true, Parts: []hermes.Part{{Text: "no"}}},
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "c", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "c"},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png?z"}}}},
	}
}

var tools = []hermes.Spec{
	{Name: "read_file", Description: "Reads.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":["string","null"],"default":"."}},"additionalProperties":false}`)},
	{Name: "todo", Description: "Plans <it>."},
}

const declared = `{"tools":[{"functionDeclarations":[{"name":"read_file","description":"Reads.","parameters":{"type":"object","properties":{"path":{"type":"string","nullable":true}}}},{"name":"todo","description":"Plans <it>."}]}],` +
	`"systemInstruction":{"parts":[{"text":"You."}]},"contents":[`

func TestRequestBody(t *testing.T) {
	t.Parallel()
	r := &hermes.Request{System: "You.", Messages: conversation(), Tools: tools, MaxTokens: 100, WordsOnly: true, Effort: hermes.EffortXHigh}
	x := sent(t, nil, r)
	const want = declared +
		`{"role":"user","parts":[{"text":"look <here>\nrecalled"}]},` +
		`{"role":"model","parts":[{"text":"I will.","thoughtSignature":"s-text"},{"functionCall":{"id":"a","name":"read_file","args":{"path":"<x>"}},"thoughtSignature":"s-call"},{"functionCall":{"id":"b","name":"todo","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"a","name":"read_file","response":{"output":"1|x"}}},{"functionResponse":{"id":"b","name":"todo","response":{"error":"no"}}},{"inlineData":{"mimeType":"image/jpeg","data":"anBn"}}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"c","name":"todo","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"c","name":"todo","response":{"output":"(no output)"}}}]},` +
		`{"role":"model","parts":[{"text":"It is x."}]},` +
		`{"role":"user","parts":[{"text":"and this?"},{"fileData":{"mimeType":"image/png","fileUri":"https://x/y.png?z"}}]}],` +
		`"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},"generationConfig":{"maxOutputTokens":100,"thinkingConfig":{"thinkingLevel":"high","includeThoughts":true}}}`
	if diff := cmp.Diff(string(x.Body), want); diff != "" {
		t.Error(diff)
	}
	if x.URL != "https://api.invalid/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse" || x.Header.Get("X-Goog-Api-Key") != "AIza-secret-123" || x.Header.Get("Authorization") != "" {
		t.Errorf("%s %v", x.URL, x.Header)
	}
	if strings.Contains(x.URL, "secret") {
		t.Error("the key is in the address")
	}
}

func TestOlderModelsSeeNoIDs(t *testing.T) {
	t.Parallel()
	body := string(sent(t, func(c *gemini.Config) { c.Model = "models/gemini-2.5-flash" }, &hermes.Request{Messages: conversation()}).Body)
	if strings.Contains(body, `"id"`) || strings.Contains(body, "skip_thought") || !strings.Contains(body, "s-call") {
		t.Error(body)
	}
}

func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	x := sent(t, func(c *gemini.Config) { c.Quirks.NoStream, c.Quirks.Bearer = true, true }, &hermes.Request{})
	if x.URL != "https://api.invalid/v1beta/models/gemini-3-flash-preview:generateContent" || x.Header.Get("Authorization") != "Bearer AIza-secret-123" {
		t.Errorf("%s %v", x.URL, x.Header)
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	half := 0.5
	tests := []struct {
		model  string
		effort hermes.Effort
		want   string
	}{
		{"gemini-2.0-flash", hermes.EffortHigh, `{"temperature":0.5}`},
		{"gemma-3-27b-it", hermes.EffortHigh, `{"temperature":0.5}`},
		{"gemini-2.5-flash", "", `{"temperature":0.5,"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-2.5-flash", hermes.EffortNone, `{"temperature":0.5,"thinkingConfig":{"thinkingBudget":0}}`},
		{"gemini-2.5-pro", hermes.EffortNone, `{"temperature":0.5,"thinkingConfig":{"thinkingBudget":128}}`},
		{"gemini-2.5-pro", hermes.EffortMax, `{"temperature":0.5,"thinkingConfig":{"thinkingBudget":32768,"includeThoughts":true}}`},
		{"gemini-2.5-flash-lite", hermes.EffortMax, `{"temperature":0.5,"thinkingConfig":{"thinkingBudget":24576,"includeThoughts":true}}`},
		{"gemini-2.5-flash", hermes.EffortLow, `{"temperature":0.5,"thinkingConfig":{"thinkingBudget":1024,"includeThoughts":true}}`},
		{"gemini-3-pro-preview", hermes.EffortMinimal, `{"thinkingConfig":{"thinkingLevel":"low","includeThoughts":true}}`},
		{"gemini-3-pro-preview", hermes.EffortMedium, `{"thinkingConfig":{"thinkingLevel":"high","includeThoughts":true}}`},
		{"gemini-3.1-pro-preview", hermes.EffortMedium, `{"thinkingConfig":{"thinkingLevel":"medium","includeThoughts":true}}`},
		{"gemini-3-flash-preview", hermes.EffortNone, `{"thinkingConfig":{"thinkingLevel":"minimal"}}`},
		{"gemini-pro-latest", hermes.EffortMax, `{"thinkingConfig":{"thinkingLevel":"high","includeThoughts":true}}`},
		{"gemini-3-pro-preview", "", `{"thinkingConfig":{"includeThoughts":true}}`},
	}
	for _, tt := range tests {
		body := string(sent(t, func(c *gemini.Config) { c.Model = tt.model }, &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Effort: tt.effort, Temperature: &half}).Body)
		if want := `],"generationConfig":` + tt.want + `}`; !strings.HasSuffix(body, want) {
			t.Errorf("%s at %q: got %s, want …%s", tt.model, tt.effort, body, want)
		}
	}
}

func TestRequestsGrow(t *testing.T) {
	t.Parallel()
	all := conversation()
	var before string
	for _, n := range []int{1, 4, 6, 8} { // where a model is asked
		body := string(sent(t, nil, &hermes.Request{System: "You.", Messages: all[:n], Tools: tools, MaxTokens: n}).Body)
		turns := body[:strings.LastIndex(body, `],"generationConfig"`)]
		if !strings.HasPrefix(turns, before) {
			t.Errorf("%d messages: %s\ndoes not begin with\n%s", n, turns, before)
		}
		before = turns
	}
}
