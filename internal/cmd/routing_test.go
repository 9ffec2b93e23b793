package cmd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hermes/internal/chatserver"
)

// recorder is a model server that keeps what it was sent.
type recorder struct {
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
}

// record serves answers, or only refuses if refusal is not "".
func record(t *testing.T, r *recorder, refusal string) (url string) {
	t.Helper()
	answer := &chatserver.Handler{Model: "played", Decide: func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: "an answer"}, nil
	}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			raw, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(strings.NewReader(string(raw)))
			r.mu.Lock()
			r.bodies, r.headers = append(r.bodies, string(raw)), append(r.headers, req.Header.Clone())
			r.mu.Unlock()
		}
		if refusal != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, refusal)
			return
		}
		answer.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// field returns a field of the body of the only request.
func (r *recorder) field(t *testing.T, name string) string {
	t.Helper()
	if len(r.bodies) != 1 {
		t.Fatalf("%d requests", len(r.bodies))
	}
	var body map[string]json.RawMessage
	if err := json.Unmarshal([]byte(r.bodies[0]), &body); err != nil {
		t.Fatal(err)
	}
	if strings.Count(r.bodies[0], `,"`+name+`":`) > 1 {
		t.Errorf("%s is sent twice", name)
	}
	return string(body[name])
}

// TestProviderRouting compares what is sent to OpenRouter with its documentation.
func TestProviderRouting(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"":                       "",
		"provider_routing: {}\n": "",
		"provider_routing: {sort: throughput, require_parameters: false, allow_fallbacks: true}\n": `{"sort":"throughput"}`,
		"provider_routing:\n  order: [anthropic, openai]\n  only: [anthropic, openai, azure]\n  ignore: [deepinfra]\n  allow_fallbacks: false\n" +
			"  require_parameters: true\n  data_collection: deny\n  zdr: true\n  enforce_distillable_text: true\n  quantizations: [fp8, bf16]\n" +
			"  sort: price\n  max_price: {prompt: 1, completion: 2.5, request: 0.01, image: 0.2}\n  preferred_min_throughput: 50\n  preferred_max_latency: 3\n": `{"order":["anthropic","openai"],"only":["anthropic","openai","azure"],"ignore":["deepinfra"],"allow_fallbacks":false,` +
			`"require_parameters":true,"data_collection":"deny","zdr":true,"enforce_distillable_text":true,"quantizations":["fp8","bf16"],` +
			`"sort":"price","max_price":{"prompt":1,"completion":2.5,"request":0.01,"image":0.2},"preferred_min_throughput":50,"preferred_max_latency":3}`,
		"provider_routing: {only: anthropic, data_collection: allow}\n": `{"only":["anthropic"],"data_collection":"allow"}`,
		// What cannot be read is not what the user wanted less of.
		"provider_routing: {data_collection: denny, zdr: yess, allow_fallbacks: nope, require_parameters: maybe}\n": `{"allow_fallbacks":false,"require_parameters":true,"data_collection":"deny","zdr":true}`,
		// The fields that are set for the provider win.
		"provider_routing: {sort: price}\nproviders: {openrouter: {extra_body: {provider: {sort: latency}}}}\n": `{"sort":"latency"}`,
	} {
		r := &recorder{}
		p := newUser(t, "OPENROUTER_API_KEY=k", "OPENROUTER_BASE_URL="+record(t, r, "")+"/v1")
		p.configure(settings)
		out, errs, status := p.run("-z", "hi", "-m", "openrouter:vendor/played")
		if status != 0 {
			t.Fatalf("status %d: %s%s", status, out, errs)
		}
		if got := r.field(t, "provider"); got != want {
			t.Errorf("%s\nsent %s\nwant %s", settings, got, want)
		}
		if at := strings.Index(r.bodies[0], `"provider":`); at >= 0 && at < strings.Index(r.bodies[0], `"messages":`) && !strings.Contains(settings, "extra_body") {
			t.Error("a change of the setting would change the prefix of a session")
		}
	}
}

func TestProviderRoutingIsForOpenRouterOnly(t *testing.T) {
	t.Parallel()
	r := &recorder{}
	p := newUser(t, "OPENAI_BASE_URL="+record(t, r, "")+"/v1", "OPENAI_API_KEY=k")
	p.configure("provider_routing: {sort: price}\nopenrouter: {response_cache: true, min_coding_score: 0.5}\nagent: {service_tier: flex}\n")
	if out, errs, status := p.run("-z", "hi", "-m", "played"); status != 0 {
		t.Fatalf("status %d: %s%s", status, out, errs)
	}
	if r.field(t, "provider")+r.field(t, "plugins")+r.field(t, "service_tier")+r.headers[0].Get("X-OpenRouter-Cache") != "" {
		t.Errorf("sent …%s, %v", r.bodies[0][len(r.bodies[0])-200:], r.headers[0])
	}
}

// TestProviderRoutingIsNeverLeftOut: a service that refuses the field gets no request
// without it, which might go where the user forbade.
func TestProviderRoutingIsNeverLeftOut(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		`{"error":{"message":"Unknown parameter: 'provider'","param":"provider","code":400}}`,
		`{"error":{"message":"Unknown parameter: 'provider.data_collection'","param":"provider.data_collection","code":400}}`,
	} {
		r := &recorder{}
		p := newUser(t, "OPENROUTER_API_KEY=k", "OPENROUTER_BASE_URL="+record(t, r, refusal)+"/v1")
		p.configure("provider_routing: {data_collection: deny}\n")
		_, errs, status := p.run("-z", "hi", "-m", "openrouter:vendor/played")
		if status == 0 || !strings.Contains(errs, "provider") {
			t.Errorf("status %d: %s", status, errs)
		}
		for _, body := range r.bodies {
			if !strings.Contains(body, `"data_collection":"deny"`) {
				t.Errorf("sent without it: …%s", body[max(0, len(body)-200):])
			}
		}
	}
}

func TestOpenRouterSettings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		settings, model     string
		cache, ttl, plugins string
	}{
		"nothing":         {"", "vendor/played", "", "", ""},
		"a cache":         {"openrouter: {response_cache: true}\n", "vendor/played", "true", "300", ""},
		"for long":        {"openrouter: {response_cache: true, response_cache_ttl: 24h}\n", "vendor/played", "true", "86400", ""},
		"for too long":    {"openrouter: {response_cache: true, response_cache_ttl: 90000}\n", "vendor/played", "true", "300", ""},
		"only a lifetime": {"openrouter: {response_cache_ttl: 60}\n", "vendor/played", "", "", ""},
		"a coding score":  {"openrouter: {min_coding_score: 0.8}\n", "openrouter/pareto-code", "", "", `[{"id":"pareto-router","min_coding_score":0.8}]`},
		"its fast form":   {"openrouter: {min_coding_score: 0.8}\n", "openrouter/pareto-code:nitro", "", "", `[{"id":"pareto-router","min_coding_score":0.8}]`},
		"another model":   {"openrouter: {min_coding_score: 0.8}\n", "vendor/played", "", "", ""},
		"not a share":     {"openrouter: {min_coding_score: 80}\n", "openrouter/pareto-code", "", "", ""},
	} {
		r := &recorder{}
		p := newUser(t, "OPENROUTER_API_KEY=k", "OPENROUTER_BASE_URL="+record(t, r, "")+"/v1")
		p.configure(tt.settings)
		if out, errs, status := p.run("-z", "hi", "-m", "openrouter:"+tt.model); status != 0 {
			t.Fatalf("%s: status %d: %s%s", name, status, out, errs)
		}
		h := r.headers[0]
		if got := r.field(t, "plugins"); got != tt.plugins || h.Get("X-OpenRouter-Cache") != tt.cache || h.Get("X-OpenRouter-Cache-TTL") != tt.ttl {
			t.Errorf("%s: plugins %s, cache %q for %q", name, got, h.Get("X-OpenRouter-Cache"), h.Get("X-OpenRouter-Cache-TTL"))
		}
	}
}

// TestServiceTier: a service gets the tier in its own word, if it knows it.
func TestServiceTier(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		service, mode, set, want string
	}{
		{"openai-api", "", "", ""},
		{"openai-api", "", "flex", `"flex"`},
		{"openai-api", "", "fast", `"priority"`},
		{"openai-api", "", "normal", `"default"`},
		{"openai-api", "codex_responses", "priority", `"priority"`},
		{"openai-api", "", "standard_only", ""},
		{"anthropic", "", "priority", `"auto"`},
		{"anthropic", "", "default", `"standard_only"`},
		{"anthropic", "", "flex", ""},
		{"openrouter", "", "flex", `"flex"`},
		{"groq", "", "flex", `"flex"`},
		{"groq", "", "priority", ""},
		{"deepseek", "", "flex", ""},
	} {
		r := &recorder{}
		refusal := ""
		if tt.service == "anthropic" || tt.mode != "" {
			refusal = `{"error":{"type":"authentication_error","message":"enough was seen"}}`
		}
		p := newUser(t)
		p.configure("providers: {" + tt.service + ": {base_url: '" + record(t, r, refusal) + "/v1', api_key: k, api_mode: '" + tt.mode + "'}}\nagent: {api_max_retries: 0, service_tier: '" + tt.set + "'}\n")
		report := filepath.Join(p.dir, "usage.json")
		if out, errs, status := p.run("-z", "hi", "-m", tt.service+":played", "--usage-file", report); status != 0 && refusal == "" {
			t.Fatalf("%s: status %d: %s%s", tt.service, status, out, errs)
		}
		if got := r.field(t, "service_tier"); got != tt.want {
			t.Errorf("%s, %q: sent %q, want %q", tt.service, tt.set, got, tt.want)
		}
		if refusal != "" {
			continue
		}
		var u struct {
			Tier json.RawMessage `json:"service_tier"`
		}
		want := tt.want
		if want == "" {
			want = "null"
		}
		if raw, err := os.ReadFile(report); err != nil || json.Unmarshal(raw, &u) != nil || string(u.Tier) != want {
			t.Errorf("%s, %q: the usage report says %s", tt.service, tt.set, raw)
		}
	}
}

func TestServiceTierIsSpelt(t *testing.T) {
	t.Parallel()
	p := newUser(t)
	p.configure("agent: {service_tier: priorty}\n")
	if out, errs, _ := p.run("config", "check"); !strings.Contains(out+errs, "agent.service_tier must be one of") {
		t.Errorf("not reported: %s%s", out, errs)
	}
}

// TestServiceTierIsPriced: a faster tier costs more than the catalogue knows.
func TestServiceTierIsPriced(t *testing.T) {
	t.Parallel()
	long := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"an answer"},"finish_reason":"stop"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":600000,"completion_tokens":1000,"total_tokens":601000}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(long.Close)
	cost := func(service, model, settings string) float64 {
		p := newUser(t)
		p.configure("providers: {openai-api: {api_key: k, " + service + "}}\n" + settings)
		report := filepath.Join(p.dir, "usage.json")
		if out, errs, status := p.run("-z", "hi", "-m", "openai-api:"+model, "--usage-file", report); status != 0 {
			t.Fatalf("status %d: %s%s", status, out, errs)
		}
		var u struct {
			Cost float64 `json:"estimated_cost_usd"`
		}
		raw, err := os.ReadFile(report)
		if err != nil || json.Unmarshal(raw, &u) != nil || u.Cost == 0 {
			t.Fatalf("usage %s, %v", raw, err)
		}
		return u.Cost
	}
	short := "base_url: '" + record(t, &recorder{}, "") + "/v1'"
	plain := cost(short, "gpt-4.1", "")
	for settings, want := range map[string]float64{
		"agent: {service_tier: flex}\n":     1,
		"agent: {service_tier: priority}\n": 2.5,
		"agent: {service_tier: fast}\n":     2.5,
		"agent: {service_tier: priority}\nspend: {prices: {'openai-api:gpt-4.1': {input: 2, output: 8}}}\n": 1,
	} {
		if got := cost(short, "gpt-4.1", settings) / plain; got < want*0.95 || got > want*1.05 {
			t.Errorf("%s costs %.2f times as much, want %.1f", settings, got, want)
		}
	}
	for _, settings := range []string{"", "agent: {service_tier: flex}\n"} { // what is sent counts
		if got := cost(short+", extra_body: {service_tier: priority}", "gpt-4.1", settings) / plain; got < 2.4 || got > 2.6 {
			t.Errorf("%s and a tier in extra_body cost %.2f times as much, want 2.5", settings, got)
		}
	}
	// gpt-5.4 has prices of its own for prompts of this length.
	service := "base_url: '" + long.URL + "/v1'"
	if got := cost(service, "gpt-5.4", "agent: {service_tier: priority}\n") / cost(service, "gpt-5.4", ""); got < 2.4 || got > 2.6 {
		t.Errorf("a long prompt costs %.2f times as much, want 2.5", got)
	}
}
