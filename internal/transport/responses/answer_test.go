package responses_test

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
	"hermes/internal/transport/responses"
)

func config(rt http.RoundTripper) responses.Config {
	return responses.Config{Config: base.Config{
		ID: "openai-api:gpt-5.2", Provider: "openai-api", Model: "gpt-5.2", BaseURL: "https://api.invalid/v1",
		Key: "sk-secret-123", Client: &http.Client{Transport: rt},
		Now: func() time.Time { return time.Unix(0, 0) },
	}}
}

func ask(t *testing.T, file string) (hermes.Message, error) {
	t.Helper()
	m := responses.New(config(&modelsuite.Recorded{T: t, File: file}))
	return hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
	used := func(input, read, output, reasoning int64) *hermes.Usage {
		return &hermes.Usage{Input: input, CacheRead: read, Output: output, Reasoning: reasoning, Calls: 1}
	}
	tests := []struct {
		file string
		want hermes.Message
	}{
		{"text", hermes.Message{Parts: text("Grüße, \"world\"\n"), Finish: "stop", Usage: used(37, 1800, 15, 0)}},
		{"reasoning-and-calls", hermes.Message{Finish: "tool_calls", Usage: used(37, 1800, 89, 64),
			Reasoning: []hermes.Reasoning{{Protocol: "responses", Text: "Two files.\n\nRead both.", Opaque: "gAAAAABencrypted"}},
			Calls: []hermes.ToolCall{
				{ID: "call_a", Name: "read_file", Arguments: `{"path":"a.go"}`},
				{ID: "call_b", Name: "todo", Arguments: `{}`}}}},
		{"commentary", hermes.Message{Parts: text("It is 4."), Finish: "stop", Usage: used(20, 0, 5, 0),
			Reasoning: []hermes.Reasoning{{Protocol: "responses", Text: "I look first.", Signature: "commentary"}}}},
		{"commentary-only", hermes.Message{Finish: "stop", Usage: used(20, 0, 5, 0),
			Reasoning: []hermes.Reasoning{{Protocol: "responses", Text: "I will look.", Signature: "commentary"}}}},
		{"unfinished", hermes.Message{Parts: text("Half of"), Finish: "length", Usage: used(10, 0, 3, 0)}},
		{"refusal", hermes.Message{Parts: text("I cannot."), Finish: "content_filter", Usage: used(10, 0, 3, 0)}},
		{"whole", hermes.Message{Parts: text("Let me look."), Finish: "tool_calls", Usage: used(11, 0, 7, 2),
			Reasoning: []hermes.Reasoning{{Protocol: "responses", Opaque: "gAAAw"}},
			Calls:     []hermes.ToolCall{{ID: "call_w", Name: "read_file", Arguments: `{"path":"a"}`}}}},
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

func TestCallsWithoutPiecesOrIDs(t *testing.T) {
	t.Parallel()
	got, err := ask(t, "calls-at-once")
	if err != nil || len(got.Calls) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	if c := got.Calls[0]; c.ID != "call_a" || c.Arguments != "{}" {
		t.Errorf("the first call is %+v", c)
	}
	if c := got.Calls[1]; c.ID == "" || c.ID == "call_a" || c.Arguments != `{"path":"b"}` {
		t.Errorf("the second call is %+v", c)
	}
}

func TestUsedIDsAreReplaced(t *testing.T) {
	t.Parallel()
	m := responses.New(config(&modelsuite.Recorded{T: t, File: "reasoning-and-calls"}))
	got, err := hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{
		hermes.UserText("hi"),
		{Role: hermes.RoleAssistant, Calls: []hermes.ToolCall{{ID: "call_a", Name: "todo"}}},
		{Role: hermes.RoleTool, CallID: "call_a"},
	}}))
	if err != nil || got.Calls[0].ID == "call_a" || got.Calls[1].ID != "call_b" {
		t.Errorf("%+v, %v", got.Calls, err)
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
		{"error-event", hermes.ClassRateLimit, nil, ""},
		{"quota-in-stream", hermes.ClassBilling, nil, ""},
		{"overflow-in-stream", hermes.ClassOverflow, nil, ""},
		{"error-in-body", hermes.ClassAuth, nil, ""},
		{"error-of-llama", hermes.ClassServerError, nil, ""},
		{"error-in-ok-body", hermes.ClassModelNotFound, nil, ""},
		{"overflow", hermes.ClassOverflow, nil, ""},
		{"rate-limit", hermes.ClassRateLimit, nil, ""},
	}
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
			if tt.file == "error-of-llama" && !strings.Contains(err.Error(), "peg-native format") {
				t.Errorf("the service's words are lost: %v", err)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is shown: %v", err)
			}
			if tt.file == "rate-limit" && (e.RetryAfter != 9*time.Second || e.Status != 429) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// FuzzAnswer feeds whole answers, streamed or not.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))), true)
	f.Add([]byte(`{"object":"response","status":"completed","output":[{"type":"function_call","name":1},{"type":"message","phase":"commentary","content":[{}]}]}`), false)
	f.Add([]byte("data: {\"type\":\"response.output_text.delta\",\"output_index\":-1,\"delta\":\"x\"}\n\ndata: [DONE]"), true)
	f.Add([]byte("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"name\":\"n\"}}\n\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\"}}\n\ndata: [DONE]"), true)
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		modelsuite.CheckAnswer(t, responses.New(config(&modelsuite.Recorded{Raw: body, Kind: kind})))
	})
}
