package anthropic_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/anthropic"
	"hermes/internal/transport/base"
)

// recorded answers every request with a file of testdata.
type recorded struct {
	t    *testing.T
	file string
	body []byte // of the last request
	head http.Header
	url  string
}

func (r *recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	raw, err := os.ReadFile(filepath.Join("testdata", r.file+".http"))
	if err != nil {
		r.t.Fatal(err)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(req.Body); err != nil {
		return nil, err
	}
	r.body, r.head, r.url = body.Bytes(), req.Header, req.URL.String()
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), req)
}

func config(rt http.RoundTripper) anthropic.Config {
	return anthropic.Config{Config: base.Config{
		ID: "anthropic:claude-sonnet-4-6", Provider: "anthropic", Model: "claude-sonnet-4-6", BaseURL: "https://api.invalid",
		Key: "sk-secret-123", Client: &http.Client{Transport: rt},
		Now: func() time.Time { return time.Unix(0, 0) },
	}}
}

func ask(t *testing.T, file string) (hermes.Message, error) {
	t.Helper()
	m := anthropic.New(config(&recorded{t: t, file: file}))
	return hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
	used := func(output int64) *hermes.Usage {
		return &hermes.Usage{Input: 25, CacheRead: 1800, CacheWrite: 12, Output: output, Calls: 1}
	}
	tests := []struct {
		file string
		want hermes.Message
	}{
		{"text", hermes.Message{Parts: text("Grüße, \"world\"\n"), Finish: "stop", Usage: used(15)}},
		{"thinking-and-calls", hermes.Message{Finish: "tool_calls", Usage: used(89),
			Reasoning: []hermes.Reasoning{
				{Protocol: "anthropic", Text: "Two files to read.", Signature: "EqQBCg"},
				{Protocol: "anthropic", Opaque: "EmwKAhgB"}},
			Calls: []hermes.ToolCall{
				{ID: "toolu_a", Name: "read_file", Arguments: `{"path": "a.go"}`},
				{ID: "toolu_b", Name: "todo", Arguments: `{}`}}}},
		{"whole", hermes.Message{Parts: text("Let me look."), Finish: "tool_calls",
			Reasoning: []hermes.Reasoning{{Protocol: "anthropic", Text: "Hm.", Signature: "c2ln"}},
			Calls:     []hermes.ToolCall{{ID: "toolu_w", Name: "read_file", Arguments: `{"path":"a"}`}},
			Usage:     &hermes.Usage{Input: 11, Output: 7, Calls: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Role = hermes.RoleAssistant
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file  string
		class hermes.Class
		is    error
		text  string // what came before
	}{
		{"cut-text", hermes.ClassTimeout, fault.ErrCut, "Half of"},
		{"cut-call", hermes.ClassTimeout, fault.ErrCut, ""},
		{"garbage", hermes.ClassServerError, fault.ErrGarbage, ""},
		{"error-in-stream", hermes.ClassOverloaded, nil, "Begin"},
		{"error-in-body", hermes.ClassAuth, nil, ""},
		{"error-of-llama", hermes.ClassServerError, nil, ""},
		{"overloaded", hermes.ClassOverloaded, nil, ""},
		{"overflow", hermes.ClassOverflow, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file)
			var e *hermes.ModelError
			if !errors.As(err, &e) || e.Class != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %#v, want class %s", err, tt.class)
			}
			if got.Text() != tt.text || got.Finish != "" {
				t.Errorf("before the error came %q, finish %q", got.Text(), got.Finish)
			}
			if tt.file == "error-of-llama" && !strings.Contains(err.Error(), "peg-native format") {
				t.Errorf("the service's words are lost: %v", err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is shown: %v", err)
			}
			if tt.file == "overloaded" && (e.RetryAfter != 9*time.Second || e.Status != 529 || e.Rotate || !e.Retry) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// roundTrip answers a request.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestARoutersFeeIsNotTheWholeCost: with the user's own key at the vendor, a router
// states its fee and the vendor's price apart.
func TestARoutersFeeIsNotTheWholeCost(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]hermes.Money{
		`"cost":0.05,"is_byok":true,"cost_details":{"upstream_inference_cost":1}`:   hermes.USD(1.05),
		`"cost":0.05,"cost_details":{"upstream_inference_cost":1}`:                  hermes.USD(1.05),
		`"cost":0.9,"is_byok":false,"cost_details":{"upstream_inference_cost":1}`:   hermes.USD(0.9),
		`"cost":0.05,"is_byok":null,"cost_details":{"upstream_inference_cost":"1"}`: hermes.USD(1.05),
		`"cost":0.05,"is_byok":"no","cost_details":[]`:                              hermes.USD(0.05),
	} {
		body := `{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2,` + usage + `}}`
		m := anthropic.New(config(roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Request: r, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
		})))
		var got hermes.Money
		for d, err := range m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if d.Cost != nil {
				got = *d.Cost
			}
		}
		if got != want {
			t.Errorf("%s: the cost is %v, want %v", usage, got, want)
		}
	}
}
