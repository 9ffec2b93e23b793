package ollama_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/ollama"
)

// sent returns the exchange that a request becomes.
func sent(t *testing.T, says string, change func(*ollama.Config), r *hermes.Request) *modelsuite.Recorded {
	t.Helper()
	rt := &modelsuite.Recorded{T: t, File: "length"}
	cfg := config(says, rt)
	if change != nil {
		change(&cfg)
	}
	if _, err := hermes.Collect(ollama.New(cfg).Stream(t.Context(), r)); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(rt.Body) {
		t.Fatalf("no JSON: %s", rt.Body)
	}
	return rt
}

func conversation() []hermes.Message {
	return []hermes.Message{
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "look <here>"}, {Text: "recalled", Hidden: true}, {Image: &hermes.Image{Data: []byte("png")}}}},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I will."}},
			Reasoning: []hermes.Reasoning{{Protocol: "ollama", Text: "hm"}, {Protocol: "anthropic", Text: "x", Signature: "s"}},
			Calls:     []hermes.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"<x>"}`}, {ID: "b|1", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "a", Parts: []hermes.Part{{Text: "1|x"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: []byte("jpg")}}}},
		{Role: hermes.RoleTool, CallID: "b|1", Failed: true},
		{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "It is x."}}, Reasoning: []hermes.Reasoning{{Protocol: "ollama", Text: "done"}}},
		{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "and this?"}, {Image: &hermes.Image{URL: "https://x/y.png"}}}},
	}
}

func TestRequestBody(t *testing.T) {
	t.Parallel()
	x := sent(t, qwen, nil, &hermes.Request{System: "You.", Messages: conversation(), Tools: tools[1:], MaxTokens: 100, WordsOnly: true, Effort: hermes.EffortHigh})
	const want = `{"model":"qwen3:8b","stream":true,"tools":[{"type":"function","function":{"name":"todo","description":"Plans <it>.","parameters":{"type":"object","properties":{}}}}],"messages":[` +
		`{"role":"system","content":"You."},` +
		`{"role":"user","content":"look <here>\nrecalled","images":["cG5n"]},` +
		`{"role":"assistant","content":"I will.","thinking":"hm","tool_calls":[{"id":"a","function":{"name":"read_file","arguments":{"path":"<x>"}}},{"id":"b|1","function":{"name":"todo","arguments":{}}}]},` +
		`{"role":"tool","content":"1|x","tool_name":"read_file","tool_call_id":"a"},{"role":"tool","content":"(no output)","tool_name":"todo","tool_call_id":"b|1"},` +
		`{"role":"user","content":"Images returned by the tools:","images":["anBn"]},` +
		`{"role":"assistant","content":"It is x."},` +
		`{"role":"user","content":"and this?\n(an image that could not be loaded: https://x/y.png)"},` +
		`{"role":"user","content":"Answer in words now. Do not call a tool."}],` +
		`"truncate":false,"shift":false,"think":true,"options":{"num_ctx":40960,"num_predict":100}}`
	if diff := cmp.Diff(string(x.Body), want); diff != "" {
		t.Error(diff)
	}
	if x.URL != "http://box.invalid:11434/api/chat" || x.Header.Get("Authorization") != "" {
		t.Errorf("%s %v", x.URL, x.Header)
	}
}

func TestContextIsTheServersRealLimit(t *testing.T) {
	t.Parallel()
	model := func(limit, parameters string) string {
		return `{"parameters":"` + parameters + `","model_info":{"llama.context_length":` + limit + `},"capabilities":["completion"]}`
	}
	tests := []struct {
		name, says string
		window     int
		want       string
	}{
		{"the model's own", model("131072", ""), 0, `"options":{"num_ctx":131072}`},
		{"what its file sets", model("131072", `stop x\nnum_ctx 16384`), 0, `"options":{"num_ctx":16384}`},
		{"the user's setting", model("131072", "num_ctx 16384"), 65536, `"options":{"num_ctx":65536}`},
		{"no more than the model can", model("8192", ""), 65536, `"options":{"num_ctx":8192}`},
		{"millions are too much", model("10485760", ""), 0, `"options":{"num_ctx":262144}`},
		{"the server does not say", "", 0, `"options":{}`},
		{"only the user's setting", "", 65536, `"options":{"num_ctx":65536}`},
		{"nonsense", `[]`, 0, `"options":{}`},
	}
	for _, tt := range tests {
		body := string(sent(t, tt.says, func(c *ollama.Config) { c.Window = tt.window }, &hermes.Request{}).Body)
		if !strings.HasSuffix(body, tt.want+"}") {
			t.Errorf("%s: %s, want …%s", tt.name, body, tt.want)
		}
	}
}

func TestThinking(t *testing.T) {
	t.Parallel()
	const plain = `{"model_info":{},"capabilities":["completion"]}`
	tests := []struct {
		model, says string
		effort      hermes.Effort
		want        string
	}{
		{"qwen3:8b", qwen, "", `"shift":false,"options"`},
		{"qwen3:8b", qwen, hermes.EffortNone, `"think":false,`},
		{"qwen3:8b", qwen, hermes.EffortMinimal, `"think":true,`},
		{"gpt-oss:20b", qwen, hermes.EffortNone, `"think":"low",`},
		{"gpt-oss:20b", qwen, hermes.EffortMedium, `"think":"medium",`},
		{"gpt-oss:20b", qwen, hermes.EffortMax, `"think":"high",`},
		{"llama3:8b", plain, hermes.EffortHigh, `"shift":false,"options"`},
		{"llama3:8b", "", hermes.EffortHigh, `"shift":false,"options"`},
	}
	for _, tt := range tests {
		body := string(sent(t, tt.says, func(c *ollama.Config) { c.Model = tt.model }, &hermes.Request{Effort: tt.effort}).Body)
		if !strings.Contains(body, tt.want) {
			t.Errorf("%s at %q: %s, want %s", tt.model, tt.effort, body, tt.want)
		}
	}
}

// TestTheModelIsAskedForOnce talks to a server that cannot describe the model
// at first.
func TestTheModelIsAskedForOnce(t *testing.T) {
	t.Parallel()
	var paths []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.Path)
		switch {
		case r.URL.Path == "/api/chat":
			_, _ = w.Write([]byte(answer(modelsuite.Reply([]string{"ok"}, nil))))
		case len(paths) == 1:
			http.Error(w, "{}", http.StatusInternalServerError)
		default:
			_, _ = w.Write([]byte(qwen))
		}
	}))
	defer srv.Close()
	var learned []int
	m := ollama.New(ollama.Config{
		Config: base.Config{ID: "test:m", Model: "m", BaseURL: srv.URL + "/api"},
		Learn:  func(n int) { learned = append(learned, n) },
	})
	if len(paths) != 0 {
		t.Error("New did I/O")
	}
	for range 3 {
		if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{})); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(paths, " "), "/api/show /api/chat /api/show /api/chat /api/chat"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(learned) != 1 || learned[0] != 40960 {
		t.Errorf("learned %v", learned)
	}
}
