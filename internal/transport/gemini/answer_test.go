package gemini_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
	"hermes/internal/transport/gemini"
)

func config(rt http.RoundTripper) gemini.Config {
	return gemini.Config{Config: base.Config{
		ID: "gemini:gemini-3-flash-preview", Provider: "gemini", Model: "gemini-3-flash-preview", BaseURL: "https://api.invalid/v1beta",
		Key: "AIza-secret-123", Client: &http.Client{Transport: rt},
		Now: func() time.Time { return time.Unix(0, 0) },
	}}
}

func ask(t *testing.T, file string) (hermes.Message, error) {
	t.Helper()
	m := gemini.New(config(&modelsuite.Recorded{T: t, File: file}))
	return hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
	tests := []struct {
		file string
		want hermes.Message
	}{
		{"text", hermes.Message{Parts: text("Grüße, \"world\"\n"), Finish: "stop", Usage: &hermes.Usage{Input: 37, CacheRead: 1800, Output: 15, Calls: 1}}},
		{"thinking-and-calls", hermes.Message{Finish: "tool_calls", Usage: &hermes.Usage{Input: 37, CacheRead: 1800, Output: 89, Reasoning: 64, Calls: 1},
			Reasoning: []hermes.Reasoning{{Text: "Two files to read."}},
			Calls: []hermes.ToolCall{
				{Name: "read_file", Arguments: `{"path":"a <b>.go"}`, Signature: "c2lnLWNhbGw="},
				{Name: "todo", Arguments: `{}`},
				{ID: "g-3", Name: "terminal", Arguments: `{}`}}}},
		{"thinking-and-text", hermes.Message{Parts: text("Four."), Finish: "stop", Usage: &hermes.Usage{Input: 20, Output: 12, Reasoning: 7, Calls: 1},
			Reasoning: []hermes.Reasoning{{Protocol: "gemini", Text: "Hm.", Signature: "c2lnLXRleHQ="}}}},
		{"whole", hermes.Message{Parts: text("Let me look."), Finish: "tool_calls", Usage: &hermes.Usage{Input: 11, Output: 9, Reasoning: 2, Calls: 1},
			Reasoning: []hermes.Reasoning{{Text: "Hm."}},
			Calls:     []hermes.ToolCall{{Name: "read_file", Arguments: `{"path":"a"}`, Signature: "dw=="}}}},
		{"list", hermes.Message{Parts: text("ab"), Finish: "stop", Usage: &hermes.Usage{Input: 11, Output: 7, Calls: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Role = hermes.RoleAssistant
			for i := range got.Calls { // ids of our own are random
				if strings.HasPrefix(got.Calls[i].ID, "call_") {
					got.Calls[i].ID = ""
				}
			}
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
		{"malformed-call", hermes.ClassServerError, nil, ""},
		{"blocked", hermes.ClassContentPolicy, nil, ""},
		{"error-in-stream", hermes.ClassOverloaded, nil, "Begin"},
		{"rate-limit", hermes.ClassRateLimit, nil, ""},
		{"rate-limit-list", hermes.ClassRateLimit, nil, ""},
		{"error-in-body", hermes.ClassAuth, nil, ""},
		{"not-found", hermes.ClassModelNotFound, nil, ""},
		{"overflow", hermes.ClassOverflow, nil, ""},
	}
	waits := map[string]time.Duration{"rate-limit": 43500 * time.Millisecond, "rate-limit-list": 7 * time.Second}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file)
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %#v, want class %s", err, tt.class)
			}
			if got.Text() != tt.text || got.Finish != "" {
				t.Errorf("before the error came %q, finish %q", got.Text(), got.Finish)
			}
			if e.RetryAfter != waits[tt.file] {
				t.Errorf("to wait for %v", e.RetryAfter)
			}
		})
	}
}

// FuzzAnswer feeds whole answers, streamed or not.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))), true)
	f.Add([]byte(`[{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a","args":[]}},null]},"finishReason":"STOP"}]},{"error":{}}]`), false)
	f.Add([]byte("data: {\"promptFeedback\":{\"blockReason\":1}}\n\ndata: {\"candidates\":[{\"index\":7}]}"), true)
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		modelsuite.CheckAnswer(t, gemini.New(config(&modelsuite.Recorded{Raw: body, Kind: kind})))
	})
}
