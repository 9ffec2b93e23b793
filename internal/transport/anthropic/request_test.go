package anthropic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/transport/anthropic"
)

// sent returns the body that a request becomes.
func sent(t *testing.T, change func(*anthropic.Config), r *hermes.Request) []byte {
	t.Helper()
	rt := &recorded{t: t, file: "length"}
	cfg := config(rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(anthropic.New(cfg).Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(rt.body) {
		t.Fatalf("no JSON: %s", rt.body)
	}
	return rt.body
}

func conversation() []hermes.Message {
	return []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "look <here>"}, {Text: "recalled", Hidden: true}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I will."}},
			Reasoning: []hermes.Reasoning{{Protocol: "anthropic", Text: "hm", Signature: "s"}, {Protocol: "anthropic", Opaque: "o"}, {Protocol: "chat", Text: "x", Opaque: "{}"}, {Text: "unsigned"}},
			Calls:     []hermes.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"x"}`}, {ID: "b|1", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "a", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b|1", Failed: true},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: " \n"}}},
		{Role: hermes.RoleUser},
	}
}

var tools = []hermes.Spec{{Name: "todo", Description: "Plans <it>."}}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	got := sent(t, nil, &hermes.Request{System: "You.", Messages: conversation(), Tools: tools, MaxTokens: 100})
	const want = `{"model":"claude-sonnet-4-6","stream":true,"tools":[{"name":"todo","description":"Plans <it>.","input_schema":{"type":"object","properties":{}}}],` +
		`"system":[{"type":"text","text":"You."}],"messages":[` +
		`{"role":"user","content":[{"type":"text","text":"look <here>"},{"type":"text","text":"recalled"}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"o"},{"type":"text","text":"I will."},` +
		`{"type":"tool_use","id":"a","name":"read_file","input":{"path":"x"}},{"type":"tool_use","id":"b","name":"todo","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"1|x"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"anBn"}}]},` +
		`{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"(no output)"}],"is_error":true}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"It is x."}]},` +
		`{"role":"user","content":[{"type":"text","text":"and this?"},{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]},` +
		`{"role":"assistant","content":[{"type":"text","text":"(no text)"}]},` +
		`{"role":"user","content":[{"type":"text","text":"(no text)"}]}],"max_tokens":100}`
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Error(diff)
	}
}

// TestThinkingStaysUnderTheCeiling of a spending cap, which adds no room to it.
func TestThinkingStaysUnderTheCeiling(t *testing.T) {
	t.Parallel()
	for ceiling, tail := range map[int]string{
		40_000: `"thinking":{"type":"enabled","budget_tokens":15072},"max_tokens":20096,"temperature":1}`,
		8_000:  `"thinking":{"type":"enabled","budget_tokens":6000},"max_tokens":8000,"temperature":1}`,
		1_000:  `],"max_tokens":1000}`,
	} {
		r := &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Effort: hermes.EffortHigh, MaxTokens: min(ceiling, 9_000), Ceiling: ceiling}
		body := string(sent(t, func(c *anthropic.Config) { c.Model = "claude-sonnet-4-5" }, r))
		if !strings.HasSuffix(body, tail) {
			t.Errorf("%d: %s, want …%s", ceiling, body, tail)
		}
	}
}

// shape spells a conversation as roles and kinds of blocks.
func shape(t *testing.T, body []byte) string {
	t.Helper()
	var b struct {
		Messages []struct {
			Role    string
			Content []struct{ Type string }
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range b.Messages {
		var kinds []string
		for _, c := range m.Content {
			kinds = append(kinds, c.Type)
		}
		out = append(out, m.Role+":"+strings.Join(kinds, ","))
	}
	return strings.Join(out, " ")
}

func TestTurnsAlternateAndPairsHold(t *testing.T) {
	t.Parallel()
	user, said := hermes.UserText("u"), hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "t"}}}
	asks := func(ids ...string) hermes.Message {
		m := hermes.Message{Role: hermes.RoleAssistant}
		for _, id := range ids {
			m.Calls = append(m.Calls, hermes.ToolCall{ID: id, Name: "n", Arguments: "{}"})
		}
		return m
	}
	answers := func(id string) hermes.Message {
		return hermes.Message{Role: hermes.RoleTool, CallID: id, Parts: []hermes.Part{{Text: "r"}}}
	}
	tests := []struct {
		name string
		in   []hermes.Message
		want string
	}{
		{"nothing", nil, "user:text"},
		{"a user turn comes first", []hermes.Message{said, user}, "user:text assistant:text user:text"},
		{"two of the user", []hermes.Message{user, user}, "user:text,text"},
		{"two of the model", []hermes.Message{user, said, said, user}, "user:text assistant:text,text user:text"},
		{"results in one turn", []hermes.Message{user, asks("a", "b"), answers("a"), answers("b")}, "user:text assistant:tool_use,tool_use user:tool_result,tool_result"},
		{"results before words", []hermes.Message{user, asks("a"), user, answers("a")}, "user:text assistant:tool_use user:tool_result,text"},
		{"call without result", []hermes.Message{user, asks("a", "b"), answers("b"), user}, "user:text assistant:tool_use user:tool_result,text"},
		{"only call without result", []hermes.Message{user, asks("a"), user}, "user:text assistant:text user:text"},
		{"result without call", []hermes.Message{user, answers("x"), said, user}, "user:text assistant:text user:text"},
		{"result before its call", []hermes.Message{user, answers("a"), asks("a"), user}, "user:text assistant:text user:text"},
		{"result one step too late", []hermes.Message{user, asks("a"), said, answers("a"), user}, "user:text assistant:text,text user:text"},
		{"the same result twice", []hermes.Message{user, asks("a"), answers("a"), answers("a")}, "user:text assistant:tool_use user:tool_result"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := shape(t, sent(t, nil, &hermes.Request{Messages: tt.in})); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	half := 0.5
	thinking := &hermes.Request{Messages: []hermes.Message{hermes.UserText("x")}, Effort: hermes.EffortXHigh, Temperature: &half}
	plain := &hermes.Request{Messages: thinking.Messages, Temperature: &half}
	const adaptive = `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":`
	tests := []struct {
		model string
		r     *hermes.Request
		tail  string
	}{
		{"claude-3-5-haiku-20241022", thinking, `],"max_tokens":8192,"temperature":0.5}`},
		{"claude-3-7-sonnet-20250219", thinking, `],"thinking":{"type":"enabled","budget_tokens":32000},"max_tokens":64000,"temperature":1}`},
		{"claude-sonnet-4-20250514", thinking, `],"thinking":{"type":"enabled","budget_tokens":32000},"max_tokens":64000,"temperature":1}`},
		{"claude-opus-4-1", thinking, `],"thinking":{"type":"enabled","budget_tokens":24000},"max_tokens":32000,"temperature":1}`},
		{"claude-opus-4-5-20251101", plain, `],"max_tokens":64000,"temperature":0.5}`},
		{"claude-opus-4-6", thinking, `],` + adaptive + `"max"},"max_tokens":128000}`},
		{"claude-sonnet-4.6", plain, `],"max_tokens":64000,"temperature":0.5}`},
		{"claude-opus-4-7", thinking, `],` + adaptive + `"xhigh"},"max_tokens":128000}`},
		{"claude-opus-4-7", plain, `],"max_tokens":128000}`},
		{"claude-fable-5", thinking, `],` + adaptive + `"xhigh"},"max_tokens":128000}`},
		{"claude-mystery", thinking, `],` + adaptive + `"xhigh"},"max_tokens":128000}`},
		{"MiniMax-M2", thinking, `],"thinking":{"type":"enabled","budget_tokens":32000},"max_tokens":128000,"temperature":1}`},
		{"MiniMax-M2", plain, `],"max_tokens":128000,"temperature":0.5}`},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			t.Parallel()
			got := sent(t, func(c *anthropic.Config) { c.Model = tt.model }, tt.r)
			if !bytes.HasSuffix(got, []byte(tt.tail)) {
				t.Errorf("got %s\nwant the end %s", got, tt.tail)
			}
		})
	}
	got := sent(t, func(c *anthropic.Config) { c.Window = 32_000; c.Model = "claude-opus-4-7" }, plain)
	if !bytes.HasSuffix(got, []byte(`"max_tokens":16000}`)) {
		t.Errorf("a small window: %s", got)
	}
}

func TestBudgetWaitsForTheNextRound(t *testing.T) {
	t.Parallel()
	round := []hermes.Message{hermes.UserText("u"),
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "a", Name: "n"}}},
		{Role: hermes.RoleTool, CallID: "a", Parts: []hermes.Part{{Text: "r"}}}}
	old := func(c *anthropic.Config) { c.Model = "claude-sonnet-4-5" }
	r := &hermes.Request{Messages: round, Effort: hermes.EffortLow}
	if got := sent(t, old, r); bytes.Contains(got, []byte(`"thinking"`)) {
		t.Errorf("a round begun without thinking got a budget: %s", got)
	}
	round[1].Reasoning = []hermes.Reasoning{{Protocol: "anthropic", Text: "t", Signature: "s"}}
	if got := sent(t, old, r); !bytes.Contains(got, []byte(`"budget_tokens":4096`)) {
		t.Errorf("no budget: %s", got)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	const five, hour = `"cache_control":{"type":"ephemeral"}`, `"cache_control":{"type":"ephemeral","ttl":"1h"}`
	ttl := func(v string) func(*anthropic.Config) {
		return func(c *anthropic.Config) { c.Quirks.CacheTTL = v }
	}
	count := func(body []byte, mark string) int { return bytes.Count(body, []byte(mark)) }
	all := conversation()
	got := sent(t, ttl("5m"), &hermes.Request{System: "s", Messages: all})
	if n := count(got, five); n != 4 || !bytes.Contains(got, []byte(`"text":"s",`+five)) {
		t.Errorf("%d marks: %s", n, got)
	}
	for _, want := range []string{`"url":"https://x/y.png"},` + five, `"(no text)",` + five} {
		if !bytes.Contains(got, []byte(want)) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if got := sent(t, ttl("1h"), &hermes.Request{Messages: all}); count(got, hour) != 4 || count(got, five) != 0 {
		t.Errorf("an hour without a system prompt: %s", got)
	}
	if got := sent(t, ttl("5m"), &hermes.Request{System: "s", Messages: all[:4]}); !bytes.Contains(got, []byte(`"is_error":true,`+five)) {
		t.Errorf("a result carries its mark on its envelope: %s", got)
	}
	if got := sent(t, nil, &hermes.Request{System: "s", Messages: all}); bytes.Contains(got, []byte("cache_control")) {
		t.Error("cache marks that were not requested")
	}
}

func TestEachRequestBeginsWithTheOneBefore(t *testing.T) {
	t.Parallel()
	var before []byte
	all := conversation()
	for n := 1; n <= len(all); n++ {
		if n < len(all) && all[n].Role == hermes.RoleTool {
			continue // a batch is sent whole
		}
		body := sent(t, func(c *anthropic.Config) { c.Quirks.CacheTTL = "5m" }, &hermes.Request{System: "s", Messages: all[:n], Tools: tools, WordsOnly: n%2 == 0})
		body = bytes.ReplaceAll(body, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
		if !bytes.HasPrefix(body, before) {
			t.Errorf("with %d messages\n%s\ndoes not begin with\n%s", n, body, before)
		}
		before = body[:bytes.LastIndexByte(body, ']')]
	}
}

func TestHeadersAndAddress(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, base string
		q          anthropic.Quirks
		url        string
		head       map[string]string
	}{
		{"key", "https://api.invalid", anthropic.Quirks{}, "https://api.invalid/v1/messages", map[string]string{"X-Api-Key": "sk-secret-123", "Authorization": ""}},
		{"bearer", "https://api.invalid/anthropic/", anthropic.Quirks{Bearer: true}, "https://api.invalid/anthropic/v1/messages", map[string]string{"X-Api-Key": "", "Authorization": "Bearer sk-secret-123", "Anthropic-Beta": ""}},
		{"login", "https://api.invalid/v1", anthropic.Quirks{OAuth: true}, "https://api.invalid/v1/messages", map[string]string{"X-Api-Key": "", "Authorization": "Bearer sk-secret-123", "Anthropic-Beta": "oauth-2025-04-20"}},
	}
	for _, tt := range tests {
		rt := &recorded{t: t, file: "length"}
		cfg := config(rt)
		cfg.BaseURL, cfg.Quirks = tt.base, tt.q
		if _, err := hermes.Collect(anthropic.New(cfg).Stream(t.Context(), &hermes.Request{})); err != nil {
			t.Fatal(err)
		}
		tt.head["Anthropic-Version"] = "2023-06-01"
		for name, want := range tt.head {
			if got := rt.head.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", tt.name, name, got, want)
			}
		}
		if rt.url != tt.url {
			t.Errorf("%s: %s, want %s", tt.name, rt.url, tt.url)
		}
	}
}

type stream struct{ body []byte }

func (s *stream) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(s.body))}, nil
}

func BenchmarkStream20000(b *testing.B) {
	var buf bytes.Buffer
	buf.WriteString("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n")
	for i := range 20_000 {
		fmt.Fprintf(&buf, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"word%d \"}}\n\n", i)
	}
	buf.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	m := anthropic.New(config(&stream{buf.Bytes()}))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range m.Stream(b.Context(), &hermes.Request{}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
