package chat_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/transport/chat"
)

// sent returns the body that a request becomes.
func sent(t *testing.T, change func(*chat.Config), r *hermes.Request) []byte {
	t.Helper()
	rt := &recorded{t: t, file: "no-done"}
	cfg := config(rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(chat.New(cfg).Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(rt.body) {
		t.Fatalf("no JSON: %s", rt.body)
	}
	return rt.body
}

func claude(ttl string) func(*chat.Config) {
	return func(c *chat.Config) { c.Model, c.Quirks.CacheTTL = "anthropic/claude-sonnet-4.6", ttl }
}

// conversation is a transcript with everything that a message can hold.
func conversation() []hermes.Message {
	return []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "look <here> & there"}, {Text: "recalled", Hidden: true}}},
		{Role: hermes.RoleAssistant, Reasoning: []hermes.Reasoning{{Protocol: "chat", Text: "hm", Opaque: `{"type":"reasoning.text","text":"hm"}`}, {Protocol: "anthropic", Text: "x", Opaque: "y"}},
			Calls: []hermes.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"x"}`}, {ID: "b", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "a", ToolName: "read_file", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b", ToolName: "todo"},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}},
		{Role: hermes.RoleAssistant},
		hermes.UserText("go on"),
	}
}

var tools = []hermes.Spec{
	{Name: "read_file", Description: "Reads <a> file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":["string","null"]}},"required":["path","gone"]}`)},
	{Name: "todo", Description: "Plans."},
}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	got := sent(t, nil, &hermes.Request{System: "You are <b>.", Messages: conversation(), Tools: tools})
	const want = `{"model":"m","stream":true,"stream_options":{"include_usage":true},` +
		`"tools":[{"type":"function","function":{"name":"read_file","description":"Reads <a> file.","parameters":{"type":"object","properties":{"path":{"type":"string","nullable":true}},"required":["path"]}}},` +
		`{"type":"function","function":{"name":"todo","description":"Plans.","parameters":{"type":"object","properties":{}}}}],` +
		`"messages":[{"role":"system","content":"You are <b>."},` +
		`{"role":"user","content":"look <here> & there\nrecalled"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"x\"}"}},{"id":"b","type":"function","function":{"name":"todo","arguments":"{}"}}]},` +
		`{"role":"tool","content":"1|x","tool_call_id":"a"},` +
		`{"role":"tool","content":"(no output)","tool_call_id":"b"},` +
		`{"role":"user","content":[{"type":"text","text":"Images returned by the tools:"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,anBn"}}]},` +
		`{"role":"assistant","content":"It is x."},` +
		`{"role":"user","content":[{"type":"text","text":"and this?"},{"type":"image_url","image_url":{"url":"https://x/y.png"}}]},` +
		`{"role":"assistant","content":"(no text)"},` +
		`{"role":"user","content":"go on"}]}`
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Error(diff)
	}
}

func TestOptionsStandBehindTheMessages(t *testing.T) {
	t.Parallel()
	warm := 0.5
	r := &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Tools: tools[1:], WordsOnly: true, MaxTokens: 100, Temperature: &warm, Effort: hermes.EffortMax, Session: "s1"}
	tests := []struct {
		name   string
		change func(*chat.Config)
		tail   string
	}{
		{"plain", nil, `],"tool_choice":"none","max_tokens":100,"temperature":0.5}`},
		{"gpt-5", func(c *chat.Config) { c.Model = "openai/gpt-5.1"; c.Quirks.Effort = "effort" }, `],"tool_choice":"none","max_completion_tokens":100,"reasoning_effort":"xhigh"}`},
		{"gpt-5 first", func(c *chat.Config) { c.Model = "gpt-5-mini"; c.Quirks.Effort = "effort" }, `],"tool_choice":"none","max_completion_tokens":100,"reasoning_effort":"high"}`},
		{"o3", func(c *chat.Config) { c.Model = "o3-mini"; c.Quirks.Effort = "effort" }, `],"tool_choice":"none","max_completion_tokens":100,"reasoning_effort":"high"}`},
		{"gpt-4o", func(c *chat.Config) { c.Model = "gpt-4o" }, `],"tool_choice":"none","max_tokens":100,"temperature":0.5}`},
		{"aggregator", func(c *chat.Config) { c.Quirks.Effort = "object" }, `],"tool_choice":"none","max_tokens":100,"temperature":0.5,"reasoning":{"effort":"xhigh"}}`},
		{"thinking", func(c *chat.Config) { c.Quirks.Effort = "thinking"; c.Quirks.NoTemperature = true }, `],"tool_choice":"none","max_tokens":100,"thinking":{"type":"enabled"}}`},
		{"switch", func(c *chat.Config) { c.Quirks.Effort = "enable_thinking"; c.Quirks.MaxTokens = "max_new" }, `],"tool_choice":"none","max_new":100,"temperature":0.5,"enable_thinking":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := sent(t, tt.change, r); !bytes.HasSuffix(got, []byte(tt.tail)) {
				t.Errorf("got %s\nwant the end %s", got, tt.tail)
			}
		})
	}
}

func TestHeadAndRoles(t *testing.T) {
	t.Parallel()
	r := &hermes.Request{System: "s", Messages: []hermes.Message{hermes.UserText("x")}, Session: "s1"}
	tests := []struct {
		name   string
		change func(*chat.Config)
		want   string
	}{
		{"developer for gpt-5", func(c *chat.Config) { c.Model = "gpt-5" }, `"messages":[{"role":"developer",`},
		{"developer for codex", func(c *chat.Config) { c.Model = "codex-mini-latest" }, `"messages":[{"role":"developer",`},
		{"developer for what follows", func(c *chat.Config) { c.Model = "gpt-12" }, `"messages":[{"role":"developer",`},
		{"system for gpt-4", func(c *chat.Config) { c.Model = "gpt-4.1" }, `"messages":[{"role":"system",`},
		{"system for gpt-oss", func(c *chat.Config) { c.Model = "gpt-oss-120b" }, `"messages":[{"role":"system",`},
		{"whole answers", func(c *chat.Config) { c.Quirks.NoStream = true }, `{"model":"m","stream":false,"messages"`},
		{"no usage option", func(c *chat.Config) { c.Quirks.NoUsageOption = true }, `{"model":"m","stream":true,"messages"`},
		{"extra fields, sorted", func(c *chat.Config) {
			c.Quirks.Extra = map[string]json.RawMessage{"z": json.RawMessage(`1`), "a": json.RawMessage(`{"b":2}`)}
		}, `{"model":"m","a":{"b":2},"z":1,"stream":true`},
		{"session field", func(c *chat.Config) { c.Quirks.SessionField = "prompt_cache_key" }, `,"prompt_cache_key":"s1","messages"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := sent(t, tt.change, r); !strings.Contains(string(got), tt.want) {
				t.Errorf("got %s\nwant in it %s", got, tt.want)
			}
		})
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	r := &hermes.Request{Messages: conversation()}
	got := sent(t, func(c *chat.Config) { c.Quirks.Replay = "reasoning_details" }, r)
	if !bytes.Contains(got, []byte(`"content":null,"reasoning_details":[{"type":"reasoning.text","text":"hm"}],"tool_calls"`)) {
		t.Errorf("details: %s", got)
	}
	got = sent(t, func(c *chat.Config) { c.Quirks.Replay = "reasoning_content" }, r)
	if n := bytes.Count(got, []byte("reasoning_content")); n != 1 || !bytes.Contains(got, []byte(`"content":null,"reasoning_content":"hm\nx","tool_calls"`)) {
		t.Errorf("content: %s", got)
	}
}

// TestMarks holds the rules of prompt caching.
func TestMarks(t *testing.T) {
	t.Parallel()
	marked := func(body []byte) (roles []string, ttl string) {
		var b struct {
			Messages []struct {
				Role    string
				Content []struct {
					Text  string
					Cache *struct{ Type, TTL string } `json:"cache_control"`
				}
			}
		}
		if err := json.Unmarshal(body, &b); err != nil {
			t.Fatal(err)
		}
		for _, m := range b.Messages {
			for i, p := range m.Content {
				if p.Cache == nil {
					continue
				}
				if i != len(m.Content)-1 || p.Cache.Type != "ephemeral" {
					t.Errorf("mark in the wrong place or form: %+v", m)
				}
				roles, ttl = append(roles, m.Role), p.Cache.TTL
			}
		}
		return roles, ttl
	}
	tests := []struct {
		name string
		r    *hermes.Request
		ttl  string
		want []string
	}{
		{"system and last three", &hermes.Request{System: "s", Messages: conversation()}, "5m", []string{"system", "user", "assistant", "user"}},
		{"four without a system prompt", &hermes.Request{Messages: conversation()}, "5m", []string{"assistant", "user", "assistant", "user"}},
		{"an hour", &hermes.Request{System: "s", Messages: conversation()[:1]}, "1h", []string{"system", "user"}},
		{"only system", &hermes.Request{System: "s"}, "5m", []string{"system"}},
		{"results carry marks, bare calls do not", &hermes.Request{System: "s", Messages: conversation()[:4]}, "5m", []string{"system", "tool", "tool", "user"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ttl := marked(sent(t, claude(tt.ttl), tt.r))
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Error(diff)
			}
			if want := map[string]string{"5m": "", "1h": "1h"}[tt.ttl]; ttl != want {
				t.Errorf("ttl %q, want %q", ttl, want)
			}
		})
	}
	if got := sent(t, func(c *chat.Config) { c.Model = "openai/gpt-4o"; c.Quirks.CacheTTL = "5m" }, tests[0].r); bytes.Contains(got, []byte("cache_control")) {
		t.Error("another vendor's model got marks")
	}
}

// TestEachRequestBeginsWithTheOneBefore grows a session message by message.
func TestEachRequestBeginsWithTheOneBefore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*chat.Config){"plain": nil, "marks": claude("5m")} {
		var before []byte
		all := conversation()
		for n := 1; n <= len(all); n++ {
			if n < len(all) && all[n].Role == hermes.RoleTool {
				continue // a batch is sent whole
			}
			body := sent(t, change, &hermes.Request{System: "s", Messages: all[:n], Tools: tools, WordsOnly: n%2 == 0})
			body = bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
			end := bytes.LastIndex(body, []byte(`]`))
			if !bytes.HasPrefix(body, before) {
				t.Errorf("%s: with %d messages\n%s\ndoes not begin with\n%s", name, n, body, before)
			}
			before = body[:end]
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	rt := &recorded{t: t, file: "no-done"}
	cfg := config(rt)
	cfg.Header = map[string][]string{"X-Title": {"Hermes"}}
	cfg.Quirks.SessionHeader = "X-Conv-Id"
	if _, err := hermes.Collect(chat.New(cfg).Stream(t.Context(), &hermes.Request{Session: "s1"})); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Authorization": "Bearer sk-secret-123", "X-Title": "Hermes", "X-Conv-Id": "s1", "Content-Type": "application/json"} {
		if got := rt.head.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func BenchmarkRequest2000Messages(b *testing.B) {
	var msgs []hermes.Message
	for i := range 500 {
		msgs = append(msgs, hermes.UserText(fmt.Sprint("question ", i)),
			hermes.Message{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: fmt.Sprint("c", i), Name: "terminal", Arguments: `{"command":"ls -la"}`}}},
			hermes.Message{Role: hermes.RoleTool, CallID: fmt.Sprint("c", i), Parts: []hermes.Part{{Text: strings.Repeat("drwxr-xr-x \"file\"\n", 40)}}},
			hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: strings.Repeat("an answer ", 30)}}})
	}
	r := &hermes.Request{System: strings.Repeat("system ", 1000), Messages: msgs, Tools: tools}
	m := chat.New(config(&stream{}))
	b.ReportAllocs()
	for b.Loop() {
		for range m.Stream(b.Context(), r) {
			break
		}
	}
}
