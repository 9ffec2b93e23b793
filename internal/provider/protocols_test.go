package provider_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"hermes"
	"hermes/internal/httpc"
	"hermes/internal/provider"
)

// asked keeps the requests that a fake internet gets.
type asked struct {
	mu   sync.Mutex
	urls []string
	head http.Header
	body string
	says func(*http.Request) string
}

func (a *asked) RoundTrip(req *http.Request) (*http.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.urls, a.head = append(a.urls, req.URL.String()), req.Header
	if req.Body != nil {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		a.body = string(raw)
	}
	status, body := http.StatusTeapot, `{"error":{"message":"no"}}`
	if a.says != nil {
		status, body = http.StatusOK, a.says(req)
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

func TestProtocols(t *testing.T) {
	t.Parallel()
	env := vars{
		"OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "COPILOT_GITHUB_TOKEN": "github_pat_x", "AWS_BEARER_TOKEN_BEDROCK": "b",
		"AZURE_OPENAI_ENDPOINT": "https://res.openai.azure.com/", "AZURE_OPENAI_API_KEY": "z",
	}
	own := func(base string) provider.Config {
		return provider.Config{Selection: provider.Selection{BaseURL: base}}
	}
	tests := []struct {
		name, ref, url string
		header, value  string
		cfg            provider.Config
	}{
		{"gpt-5 on OpenAI's own address", "openai:gpt-5.1", "https://api.openai.com/v1/responses", "Authorization", "Bearer o", provider.Config{}},
		{"older models there", "openai:gpt-4.1", "https://api.openai.com/v1/chat/completions", "Authorization", "Bearer o", provider.Config{}},
		{"the o series there", "openai:o3", "https://api.openai.com/v1/chat/completions", "", "", provider.Config{}},
		{"codex models there", "openai:codex-mini-latest", "https://api.openai.com/v1/responses", "", "", provider.Config{}},
		{"what was set wins", "openai:gpt-5.1", "https://api.openai.com/v1/chat/completions", "", "", provider.Config{Selection: provider.Selection{Provider: "openai", APIMode: provider.ProtocolChat}}},
		{"gpt-5 behind another address", "gpt-5.1", "https://llm.example.org/v1/chat/completions", "", "", own("https://llm.example.org/v1")},
		{"its address without a name", "gpt-5.1", "https://api.openai.com/v1/responses", "", "", own("https://api.openai.com/v1")},
		{"Anthropic by address", "m", "https://llm.example.org/anthropic/v1/models https://llm.example.org/anthropic/models https://llm.example.org/anthropic/v1/messages", "", "", own("https://llm.example.org/anthropic")},
		{"Responses by address", "m", "https://llm.example.org/v1/responses", "", "", own("https://llm.example.org/v1/responses")},
		{"Ollama by its port", "m", "http://10.0.0.2:11434/api/show http://10.0.0.2:11434/api/chat", "", "", own("http://10.0.0.2:11434/v1")},
		{"Gemini", "gemini:gemini-3-flash-preview", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse", "X-Goog-Api-Key", "g", provider.Config{}},
		{"Gemini in its other form", "m", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "Authorization", "Bearer g", provider.Config{Selection: provider.Selection{Provider: "gemini", BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai"}}},
		{"Ollama", "ollama:qwen3:8b", "http://127.0.0.1:11434/api/show http://127.0.0.1:11434/api/chat", "Authorization", "", provider.Config{}},
		{"Ollama, if one wants it so", "qwen3:8b", "http://127.0.0.1:11434/v1/chat/completions", "", "", provider.Config{Selection: provider.Selection{Provider: "ollama", APIMode: provider.ProtocolChat}}},
		{"Copilot, gpt-5", "copilot:gpt-5.1", "https://api.githubcopilot.com/responses", "X-Initiator", "user", provider.Config{}},
		{"Copilot, the mini of 5", "copilot:gpt-5-mini", "https://api.githubcopilot.com/chat/completions", "X-Initiator", "user", provider.Config{}},
		{"Copilot, others", "copilot:claude-sonnet-4-6", "https://api.githubcopilot.com/chat/completions", "Openai-Intent", "conversation-edits", provider.Config{}},
		{"Bedrock with a key", "bedrock:us.anthropic.claude-opus-4-6-v1", "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.anthropic.claude-opus-4-6-v1/converse-stream", "Authorization", "Bearer b", provider.Config{}},
		{"Azure, gpt-5", "azure:gpt-5.2", "https://res.openai.azure.com/openai/v1/responses", "Api-Key", "z", provider.Config{}},
		{"Azure, others", "azure:my-llama", "https://res.openai.azure.com/openai/v1/chat/completions", "Api-Key", "z", provider.Config{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &asked{}
			tt.cfg.Getenv, tt.cfg.Client, tt.cfg.Retries = env.get, &http.Client{Transport: a}, -1
			m, err := mustNew(t, tt.cfg).Model(t.Context(), tt.ref)
			if err != nil {
				t.Fatal(err)
			}
			_, err = hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
			if err == nil {
				t.Error("no error")
			}
			if got := strings.Join(a.urls, " "); got != tt.url {
				t.Errorf("got  %s\nwant %s", got, tt.url)
			}
			if got := a.head.Get(tt.header); got != tt.value && tt.header != "" {
				t.Errorf("%s: %q, want %q", tt.header, got, tt.value)
			}
		})
	}
}

func TestBedrockIsSigned(t *testing.T) {
	t.Parallel()
	a := &asked{}
	env := vars{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "s"}
	c := mustNew(t, provider.Config{System: provider.System{Getenv: env.get, Client: &http.Client{Transport: a}}, Patience: provider.Patience{Retries: -1}})
	if why := c.Ready("bedrock"); why != "" {
		t.Errorf("not ready: %s", why)
	}
	m, err := c.Model(t.Context(), "bedrock:amazon.nova-pro-v1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}})) // the fake refuses
	if len(a.urls) != 1 || !strings.HasPrefix(a.urls[0], "https://bedrock-runtime.eu-west-1.amazonaws.com/model/") || !strings.Contains(a.head.Get("Authorization"), "Credential=AKID/") {
		t.Errorf("%v %v", a.urls, a.head)
	}
	if why := mustNew(t, provider.Config{}).Ready("bedrock"); !strings.Contains(why, "AWS_PROFILE") {
		t.Errorf("without an account it says %q", why)
	}
}

func TestCopilotCountsWhatTheUserBegins(t *testing.T) {
	t.Parallel()
	image := hermes.Message{Role: hermes.RoleUser, Parts: []hermes.Part{{Image: &hermes.Image{URL: "https://x/y.png"}}}}
	tests := []struct {
		name              string
		r                 hermes.Request
		initiator, vision string
	}{
		{"the user", hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}, "user", ""},
		{"a picture", hermes.Request{Messages: []hermes.Message{image}}, "user", "true"},
		{"a result", hermes.Request{Messages: []hermes.Message{hermes.UserText("hi"), {Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "1", Name: "n"}}}, {Role: hermes.RoleTool, CallID: "1"}}}, "agent", ""},
		{"the program", hermes.Request{Messages: []hermes.Message{{Role: hermes.RoleUser, Synthetic: true, Parts: []hermes.Part{{Text: "done"}}}}}, "agent", ""},
		{"a title", hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}, Purpose: "title"}, "agent", ""},
	}
	for _, model := range []string{"gpt-5.1", "gpt-4.1"} {
		for _, tt := range tests {
			a := &asked{}
			c := mustNew(t, provider.Config{System: provider.System{Getenv: vars{"COPILOT_GITHUB_TOKEN": "github_pat_x"}.get, Client: &http.Client{Transport: a}}, Patience: provider.Patience{Retries: -1}})
			m, err := c.Model(t.Context(), "copilot:"+model)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = hermes.Collect(m.Stream(t.Context(), &tt.r)) // the fake refuses
			if a.head.Get("X-Initiator") != tt.initiator || a.head.Get("Copilot-Vision-Request") != tt.vision {
				t.Errorf("%s, %s: %v", model, tt.name, a.head)
			}
		}
	}
	classic := mustNew(t, provider.Config{System: provider.System{Getenv: vars{"GITHUB_TOKEN": "ghp_x"}.get}})
	if why := classic.Ready("copilot"); !strings.Contains(why, "fine-grained") {
		t.Errorf("a classic token: %q", why)
	}
	if _, err := classic.Model(t.Context(), ""); err == nil || strings.Contains(err.Error(), "copilot") {
		t.Errorf("unasked: %v", err)
	}
}

func TestGoogleListsItsModels(t *testing.T) {
	t.Parallel()
	a := &asked{says: func(*http.Request) string {
		return `{"models":[{"name":"models/gemini-3-pro-preview","displayName":"Gemini 3 Pro","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},{"name":"models/text-embedding-004","supportedGenerationMethods":["embedContent"]}]}`
	}}
	p, err := mustNew(t, provider.Config{System: provider.System{Getenv: vars{"GEMINI_API_KEY": "g"}.get, Client: &http.Client{Transport: a}}}).Provider("gemini")
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.List(t.Context())
	if err != nil || len(list) != 1 || list[0].ID != "gemini-3-pro-preview" || list[0].ContextLength != 1048576 || list[0].OutputLimit != 65536 || !list[0].Reasoning {
		t.Errorf("%+v, %v", list, err)
	}
	if a.head.Get("X-Goog-Api-Key") != "g" || !strings.HasPrefix(a.urls[0], "https://generativelanguage.googleapis.com/v1beta/models?") {
		t.Errorf("%v %v", a.urls, a.head)
	}
}

// TestOllamasContextIsLearned asks a server that knows its models' limits.
func TestOllamasContextIsLearned(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/show":
			_, _ = io.WriteString(w, `{"model_info":{"qwen3.context_length":40960},"capabilities":["tools"]}`)
		case "/api/chat":
			_, _ = io.WriteString(w, `{"message":{"content":"ok"},"done":true,"done_reason":"stop"}`+"\n")
		case "/v1/models":
			_, _ = io.WriteString(w, `{"data":[{"id":"qwen3:8b"}]}`)
		}
	}))
	defer srv.Close()
	c := mustNew(t, provider.Config{Patience: provider.Patience{Timeouts: provider.Timeouts{Probe: time.Minute}}, Local: []provider.LocalServer{{Provider: "ollama", BaseURL: srv.URL + "/v1"}}})
	m, err := c.Model(t.Context(), "")
	if err != nil || m.ID() != "ollama:qwen3:8b" {
		t.Fatalf("%v, %v", m, err)
	}
	got, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
	if err != nil || got.Text() != "ok" {
		t.Fatalf("%+v, %v", got, err)
	}
	if n := c.Window("ollama:qwen3:8b"); n != 40960 {
		t.Errorf("the window is %d", n)
	}
}

// TestAFailedStreamGivesItsConnectionBack fails inside the stream, so that the call is
// made again.
func TestAFailedStreamGivesItsConnectionBack(t *testing.T) {
	t.Parallel()
	for protocol, frame := range map[string]string{
		provider.ProtocolChat:      "data: {\"error\":{\"message\":\"x\",\"code\":500}}\n\n",
		provider.ProtocolAnthropic: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\",\"message\":\"x\"}}\n\n",
		provider.ProtocolResponses: "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"server_error\",\"message\":\"x\"}}}\n\n",
		provider.ProtocolGemini:    "data: {\"error\":{\"code\":500,\"message\":\"x\",\"status\":\"INTERNAL\"}}\n\n",
		provider.ProtocolOllama:    "{\"error\":\"x\"}\n",
	} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			from := map[string]bool{}
			calls := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				from[r.RemoteAddr] = true
				calls++
				mu.Unlock()
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, frame)
				http.NewResponseController(w).Flush()
			}))
			t.Cleanup(srv.Close)
			c := mustNew(t, provider.Config{Custom: map[string]provider.Custom{"box": {BaseURL: srv.URL, APIMode: protocol}},
				System: provider.System{Sleep: func(context.Context, time.Duration) error { return nil }}})
			m, err := c.Model(t.Context(), "box:m")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}})); err == nil {
				t.Fatal("no error")
			}
			if calls < 2 || len(from) != 1 {
				t.Errorf("%d calls over %d connections", calls, len(from))
			}
		})
	}
}

// TestServicesGetTheirHeaders compares with what each service documents or expects of
// its clients, for calls and for the list of models.
func TestServicesGetTheirHeaders(t *testing.T) {
	t.Parallel()
	const referer, qwen = "https://github.com/NousResearch/hermes-agent", "QwenCode/0.0.0 (Hermes)"
	for service, want := range map[string]map[string]string{
		"openrouter":   {"HTTP-Referer": referer, "X-Title": "Hermes", "User-Agent": "hermes/test"},
		"ai-gateway":   {"HTTP-Referer": referer, "X-Title": "Hermes"},
		"kilocode":     {"HTTP-Referer": referer, "X-Title": "Hermes"},
		"openai-codex": {"Originator": "codex_cli_rs", "User-Agent": "codex_cli_rs/0.0.0 (Hermes)"},
		"qwen-oauth":   {"User-Agent": qwen, "X-DashScope-UserAgent": qwen, "X-DashScope-AuthType": "qwen-oauth", "X-DashScope-CacheControl": "enable"},
		"copilot":      {"Openai-Intent": "conversation-edits"},
		"deepseek":     {"HTTP-Referer": "", "X-Title": "", "Originator": "", "User-Agent": "hermes/test"},
	} {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			var seen []http.Header
			net := roundTripper(func(r *http.Request) (*http.Response, error) {
				seen = append(seen, r.Header.Clone())
				return &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
			})
			client, err := httpc.New(httpc.Options{UserAgent: "hermes/test", Transport: net})
			if err != nil {
				t.Fatal(err)
			}
			c := mustNew(t, provider.Config{System: provider.System{Client: client, UserAgent: "hermes/test"}, Patience: provider.Patience{Retries: -1}, Custom: map[string]provider.Custom{
				service: {Key: "k", Header: map[string]string{"X-Team": "blue"}},
			}})
			m, err := c.Model(t.Context(), service+":a/b")
			if err != nil {
				t.Fatal(err)
			}
			hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
			p, err := c.Provider(service)
			if err != nil {
				t.Fatal(err)
			}
			p.List(t.Context())
			if len(seen) < 2 {
				t.Fatalf("%d requests", len(seen))
			}
			for i, h := range seen {
				for name, value := range want {
					if got := h.Get(name); got != value {
						t.Errorf("request %d: %s is %q, want %q", i, name, got, value)
					}
				}
				if h.Get("X-Team") != "blue" {
					t.Errorf("request %d: the user's header is missing", i)
				}
			}
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
