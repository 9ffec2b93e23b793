package bedrock_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/bedrock"
)

// sent returns the exchange that a request becomes.
func sent(t *testing.T, change func(*bedrock.Config), r *hermes.Request) *modelsuite.Recorded {
	t.Helper()
	rt := recording(t, "length")
	cfg := config(rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(bedrock.New(cfg).Stream(t.Context(), r)); err != nil {
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
			Reasoning: []hermes.Reasoning{{Protocol: "bedrock", Text: "hm", Signature: "s"}, {Protocol: "bedrock", Opaque: "cmVk"}, {Protocol: "bedrock", Opaque: "no base64"}, {Protocol: "anthropic", Text: "x", Signature: "s"}},
			Calls:     []hermes.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"<x>"}`}, {ID: "b|1", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "a", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b|1", Failed: true},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}},
	}
}

var tools = []hermes.Spec{{Name: "todo", Description: "Plans <it>."}}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	const want = `{"toolConfig":{"tools":[{"toolSpec":{"name":"todo","description":"Plans <it>.","inputSchema":{"json":{"type":"object","properties":{}}}}}]},` +
		`"system":[{"text":"You."}],"messages":[` +
		`{"role":"user","content":[{"text":"look <here>"},{"text":"recalled"}]},` +
		`{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"hm","signature":"s"}}},{"reasoningContent":{"redactedContent":"cmVk"}},{"text":"I will."},` +
		`{"toolUse":{"toolUseId":"a","name":"read_file","input":{"path":"<x>"}}},{"toolUse":{"toolUseId":"b","name":"todo","input":{}}}]},` +
		`{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"1|x"},{"image":{"format":"jpeg","source":{"bytes":"anBn"}}}]}},{"toolResult":{"toolUseId":"b","content":[{"text":"(no output)"}],"status":"error"}}]},` +
		`{"role":"assistant","content":[{"text":"It is x."}]},` +
		`{"role":"user","content":[{"text":"and this?"},{"text":"(an image that could not be loaded: https://x/y.png)"},{"text":"Answer in words now. Do not call a tool."}]}],` +
		`"inferenceConfig":{"maxTokens":100}}`
	x := sent(t, nil, &hermes.Request{System: "You.", Messages: conversation(), Tools: tools, MaxTokens: 100, WordsOnly: true})
	if diff := cmp.Diff(string(x.Body), want); diff != "" {
		t.Error(diff)
	}
	if want := "https://bedrock-runtime.eu-central-1.amazonaws.com/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream"; x.URL != want {
		t.Errorf("asked %s, want %s", x.URL, want)
	}
	if auth := x.Header.Get("Authorization"); !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKID/19700101/eu-central-1/bedrock/aws4_request, SignedHeaders=") || x.Header.Get("X-Amz-Security-Token") != "temporary" {
		t.Errorf("signed %v", x.Header)
	}
}

func TestCachePoints(t *testing.T) {
	t.Parallel()
	tests := []struct{ model, ttl, point string }{
		{"us.anthropic.claude-opus-4-6-v1", "5m", `{"cachePoint":{"type":"default"}}`},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0", "1h", `{"cachePoint":{"type":"default","ttl":"1h"}}`},
		{"amazon.nova-pro-v1:0", "5m", `{"cachePoint":{"type":"default"}}`},
		{"meta.llama3-3-70b-instruct-v1:0", "5m", ""},
		{"anthropic.claude-sonnet-4-5-20250929-v1:0", "", ""},
	}
	for _, tt := range tests {
		body := string(sent(t, func(c *bedrock.Config) { c.Model, c.Quirks.CacheTTL = tt.model, tt.ttl }, &hermes.Request{System: "You.", Messages: conversation(), Tools: tools}).Body)
		n := strings.Count(body, "cachePoint")
		if tt.point == "" {
			if n != 0 {
				t.Errorf("%s: %s", tt.model, body)
			}
			continue
		}
		if n != 4 || strings.Count(body, tt.point) != 4 || !strings.Contains(body, `"system":[{"text":"You."},`+tt.point+`]`) || !strings.HasSuffix(body, tt.point+`]}]}`) {
			t.Errorf("%s: %d points: %s", tt.model, n, body)
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	half := 0.5
	foreign := append(conversation()[:1:1], hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "a", Name: "todo"}}}, hermes.Message{Role: hermes.RoleTool, CallID: "a"})
	plain := []hermes.Message{hermes.UserText("x")}
	tests := []struct {
		name, model string
		effort      hermes.Effort
		max         int
		messages    []hermes.Message
		tail        string
	}{
		{"no effort", "anthropic.claude-sonnet-4-5-20250929-v1:0", "", 0, plain, `],"inferenceConfig":{"temperature":0.5}}`},
		{"budget", "anthropic.claude-sonnet-4-5-20250929-v1:0", hermes.EffortHigh, 0, plain, `],"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16000}}}`},
		{"space for the budget", "anthropic.claude-sonnet-4-5-20250929-v1:0", hermes.EffortHigh, 100, plain, `],"inferenceConfig":{"maxTokens":20096},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16000}}}`},
		{"no budget in another's round", "anthropic.claude-sonnet-4-5-20250929-v1:0", hermes.EffortHigh, 0, foreign, `],"inferenceConfig":{"temperature":0.5}}`},
		{"adaptive", "global.anthropic.claude-opus-4-6-v1", hermes.EffortMax, 0, plain, `],"additionalModelRequestFields":{"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}}}`},
		{"no thinking wanted", "global.anthropic.claude-opus-4-6-v1", hermes.EffortNone, 0, plain, `],"inferenceConfig":{"temperature":0.5}}`},
		{"no sampling", "anthropic.claude-opus-4-7-v1:0", "", 0, plain, `]}`},
		{"cannot think", "anthropic.claude-3-5-haiku-20241022-v1:0", hermes.EffortHigh, 0, plain, `],"inferenceConfig":{"temperature":0.5}}`},
		{"gpt-oss", "openai.gpt-oss-120b-1:0", hermes.EffortXHigh, 0, plain, `],"inferenceConfig":{"temperature":0.5},"additionalModelRequestFields":{"reasoning_effort":"high"}}`},
		{"nova", "amazon.nova-2-lite-v1:0", hermes.EffortHigh, 0, plain, `],"inferenceConfig":{"temperature":0.5},"additionalModelRequestFields":{"reasoningConfig":{"type":"enabled","maxReasoningEffort":"medium"}}}`},
		{"llama", "meta.llama3-3-70b-instruct-v1:0", hermes.EffortHigh, 7, plain, `],"inferenceConfig":{"maxTokens":7,"temperature":0.5}}`},
	}
	for _, tt := range tests {
		body := string(sent(t, func(c *bedrock.Config) { c.Model = tt.model }, &hermes.Request{Messages: tt.messages, Effort: tt.effort, MaxTokens: tt.max, Temperature: &half}).Body)
		if !strings.HasSuffix(body, tt.tail) {
			t.Errorf("%s: %s, want …%s", tt.name, body, tt.tail)
		}
	}
}

// TestThinkingStaysUnderTheCeiling of a spending cap, which adds no room to it.
func TestThinkingStaysUnderTheCeiling(t *testing.T) {
	t.Parallel()
	for ceiling, tail := range map[int]string{
		40_000: `"inferenceConfig":{"maxTokens":20096},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":16000}}}`,
		8_000:  `"inferenceConfig":{"maxTokens":8000},"additionalModelRequestFields":{"thinking":{"type":"enabled","budget_tokens":6000}}}`,
		1_000:  `"inferenceConfig":{"maxTokens":1000}}`,
	} {
		r := &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Effort: hermes.EffortHigh, MaxTokens: min(ceiling, 9_000), Ceiling: ceiling}
		body := string(sent(t, func(c *bedrock.Config) { c.Model = "anthropic.claude-sonnet-4-5-20250929-v1:0" }, r).Body)
		if !strings.HasSuffix(body, tail) {
			t.Errorf("%d: %s, want …%s", ceiling, body, tail)
		}
	}
}

func TestCallsAreDeclaredWhereNoToolsAreGiven(t *testing.T) {
	t.Parallel()
	body := string(sent(t, nil, &hermes.Request{Messages: conversation()}).Body)
	if strings.Count(body, `"toolSpec"`) != 2 || !strings.Contains(body, `"name":"read_file","description":"No longer available`) {
		t.Error(body)
	}
}

func TestRequestsGrow(t *testing.T) {
	t.Parallel()
	all := conversation()
	var before string
	for _, n := range []int{1, 4, 6} { // where a model is asked
		body := string(sent(t, nil, &hermes.Request{System: "You.", Messages: all[:n], Tools: tools, MaxTokens: n}).Body)
		turns := body[:strings.LastIndex(body, `],"inferenceConfig"`)]
		if !strings.HasPrefix(turns, before) {
			t.Errorf("%d messages: %s\ndoes not begin with\n%s", n, turns, before)
		}
		before = turns
	}
}

// TestWhoAsks looks for credentials where the AWS tools do.
func TestWhoAsks(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		t.Setenv(name, "")
	}
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, "config"))
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(home, "credentials"))
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bare := func(c *bedrock.Config) { c.Access, c.BaseURL = bedrock.Access{}, "" }

	cfg := config(recording(t, "length"))
	bare(&cfg)
	_, err := hermes.Collect(bedrock.New(cfg).Stream(t.Context(), &hermes.Request{}))
	e, ok := errors.AsType[*hermes.ModelError](err)
	if !ok || e.Class != hermes.ClassAuth || e.Retry || e.Status != 0 || !strings.Contains(e.Message, "AWS_PROFILE") {
		t.Errorf("no credentials: %v", err)
	}

	write("config", "[default]\nregion = us-west-2\n[profile work]\nregion = ap-south-1\n")
	write("credentials", "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = s\n[work]\naws_access_key_id = AKWORK\naws_secret_access_key = s\n")
	tests := []struct {
		name   string
		change func(*bedrock.Config)
		url    string
		auth   string
	}{
		{"the default profile", bare, "https://bedrock-runtime.us-west-2.amazonaws.com/", "Credential=AKDEFAULT/19700101/us-west-2/"},
		{"a named profile", func(c *bedrock.Config) { bare(c); c.Access.Profile = "work" }, "https://bedrock-runtime.ap-south-1.amazonaws.com/", "Credential=AKWORK/19700101/ap-south-1/"},
		{"a region that was set", func(c *bedrock.Config) { bare(c); c.Access.Region = "eu-west-1" }, "https://bedrock-runtime.eu-west-1.amazonaws.com/", "Credential=AKDEFAULT/19700101/eu-west-1/"},
		{"the region of the address", func(c *bedrock.Config) {
			bare(c)
			c.BaseURL = "https://vpce-1.bedrock-runtime.ca-central-1.vpce.amazonaws.com"
		}, "https://vpce-1.bedrock-runtime.ca-central-1.vpce.amazonaws.com/", "/ca-central-1/"},
		{"an API key", func(c *bedrock.Config) { c.Key = "bedrock-api-key-x" }, "https://bedrock-runtime.eu-central-1.amazonaws.com/", "Bearer bedrock-api-key-x"},
	}
	for _, tt := range tests {
		x := sent(t, tt.change, &hermes.Request{})
		if !strings.HasPrefix(x.URL, tt.url) || !strings.Contains(x.Header.Get("Authorization"), tt.auth) {
			t.Errorf("%s: %s %v", tt.name, x.URL, x.Header)
		}
	}
}

func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	rt := &modelsuite.Recorded{T: t, File: "whole"}
	cfg := config(rt)
	cfg.Quirks.NoStream = true
	cfg.Header = http.Header{"X-Extra": {"1"}}
	if _, err := hermes.Collect(bedrock.New(cfg).Stream(t.Context(), &hermes.Request{})); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(rt.URL, "/converse") || rt.Header.Get("X-Extra") != "1" {
		t.Errorf("%s %v", rt.URL, rt.Header)
	}
}
