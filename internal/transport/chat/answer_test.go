package chat_test

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hermes"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
	"hermes/internal/transport/chat"
)

// recorded answers every request with a file of testdata.
type recorded struct {
	t    *testing.T
	file string
	body []byte // of the last request
	head http.Header
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
	r.body, r.head = body.Bytes(), req.Header
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), req)
}

func config(rt http.RoundTripper) chat.Config {
	return chat.Config{Config: base.Config{
		ID: "test:m", Provider: "test", Model: "m", BaseURL: "http://model.invalid/v1/",
		Key: "sk-secret-123", Client: &http.Client{Transport: rt},
		Now: func() time.Time { return time.Unix(0, 0) },
	}}
}

func ask(t *testing.T, file string, q chat.Quirks) (hermes.Message, error) {
	t.Helper()
	cfg := config(&recorded{t: t, file: file})
	cfg.Quirks = q
	return hermes.Collect(chat.New(cfg).Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
	tests := []struct {
		file   string
		replay string
		want   hermes.Message
	}{
		{file: "text", want: hermes.Message{
			Parts: text("Grüße, \"world\"\n"), Finish: "stop",
			Usage: &hermes.Usage{Input: 86, CacheRead: 1920, Output: 300, Reasoning: 64, Calls: 1}}},
		{file: "calls-in-pieces", want: hermes.Message{Finish: "tool_calls", Calls: []hermes.ToolCall{
			{ID: "call_a", Name: "read_file", Arguments: `{"path":"a.go"}`},
			{ID: "call_b", Name: "terminal", Arguments: `{"command":"ls"}`}}}},
		{file: "calls-nameless", want: hermes.Message{Finish: "tool_calls", Calls: []hermes.ToolCall{
			{ID: "call_a", Name: "read_file", Arguments: `{"path":"a.go"}`},
			{ID: "call_b", Arguments: `{"path":"b.go"}`}}}},
		{file: "calls-odd", want: hermes.Message{Finish: "tool_calls", Calls: []hermes.ToolCall{
			{Name: "todo", Arguments: `{"items":[{"id":1}],"merge":true}`},
			{Name: "todo", Arguments: `{}`}}}},
		{file: "calls-same-index", want: hermes.Message{Finish: "tool_calls", Usage: &hermes.Usage{Input: 10, Output: 5, Calls: 1}, Calls: []hermes.ToolCall{
			{ID: "x1", Name: "a", Arguments: `{"n":1}`},
			{ID: "x2", Name: "b", Arguments: `{"n":2}`}}}},
		{file: "calls-repeated-name", want: hermes.Message{Finish: "tool_calls", Calls: []hermes.ToolCall{
			{ID: "r1", Name: "terminal", Arguments: `{"command":"id"}`}}}},
		{file: "reasoning-details", want: hermes.Message{
			Parts: text("Done."), Finish: "stop", Reasoning: []hermes.Reasoning{{Text: "Let me think."}},
			Usage: &hermes.Usage{Input: 5, CacheRead: 100, CacheWrite: 15, Output: 9, Calls: 1}}},
		{file: "reasoning-details", replay: "reasoning_details", want: hermes.Message{
			Parts: text("Done."), Finish: "stop", Reasoning: []hermes.Reasoning{
				{Protocol: "chat", Text: "Let me think.", Opaque: `{"format":"anthropic-claude-v1","index":0,"signature":"c2ln","text":"Let me think.","type":"reasoning.text"}`},
				{Protocol: "chat", Opaque: `{"data":"AAAA","id":"r-1","index":1,"type":"reasoning.encrypted"}`}},
			Usage: &hermes.Usage{Input: 5, CacheRead: 100, CacheWrite: 15, Output: 9, Calls: 1}}},
		{file: "reasoning-content", replay: "reasoning_content", want: hermes.Message{
			Parts: text("Here."), Finish: "stop", Reasoning: []hermes.Reasoning{{Protocol: "chat", Text: "First, look."}},
			Usage: &hermes.Usage{Input: 10, CacheRead: 40, Output: 20, Calls: 1}}},
		{file: "no-done", want: hermes.Message{Parts: text("All of it."), Finish: "stop"}},
		{file: "refusal", want: hermes.Message{Parts: text("I cannot do that."), Finish: "content_filter"}},
		{file: "whole", want: hermes.Message{
			Parts: text("Let me look."), Finish: "tool_calls", Reasoning: []hermes.Reasoning{{Text: "Hm."}},
			Calls: []hermes.ToolCall{{ID: "call_w", Name: "read_file", Arguments: `{"path":"a"}`}},
			Usage: &hermes.Usage{Input: 11, Output: 7, Calls: 1}}},
		{file: "parts", want: hermes.Message{
			Parts: text("Yes."), Finish: "stop", Reasoning: []hermes.Reasoning{{Text: "Hm."}},
			Usage: &hermes.Usage{Input: 3, Output: 2, Calls: 1}}},
		{file: "lines", want: hermes.Message{Parts: text("AB"), Finish: "stop"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file, chat.Quirks{Replay: tt.replay})
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Role = hermes.RoleAssistant
			ignoreIDs := cmp.Options{}
			if tt.file == "calls-odd" {
				ignoreIDs = append(ignoreIDs, cmpopts.IgnoreFields(hermes.ToolCall{}, "ID"))
			}
			if diff := cmp.Diff(got, tt.want, ignoreIDs); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
			seen := map[string]bool{}
			for _, c := range got.Calls {
				if c.ID == "" || seen[c.ID] {
					t.Errorf("call id %q is empty or not its own", c.ID)
				}
				seen[c.ID] = true
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
		{"cut-event", hermes.ClassTimeout, fault.ErrCut, "Half of"},
		{"cut-call", hermes.ClassTimeout, fault.ErrCut, ""},
		{"calls-all-nameless", hermes.ClassServerError, fault.ErrGarbage, ""},
		{"garbage", hermes.ClassServerError, fault.ErrGarbage, "A"},
		{"error-in-stream", hermes.ClassRateLimit, nil, "Begin"},
		{"error-event", hermes.ClassOverloaded, nil, ""},
		{"error-in-body", hermes.ClassModelNotFound, nil, ""},
		{"rate-limit", hermes.ClassRateLimit, nil, ""},
		{"overflow", hermes.ClassOverflow, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file, chat.Quirks{})
			var e *hermes.ModelError
			if !errors.As(err, &e) || e.Class != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %#v, want class %s", err, tt.class)
			}
			if got.Text() != tt.text || got.Finish != "" {
				t.Errorf("before the error came %q, finish %q", got.Text(), got.Finish)
			}
			if strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("the key is shown: %v", err)
			}
			if tt.file == "rate-limit" && (e.RetryAfter != 20*time.Second || e.Status != 429 || !e.Rotate) {
				t.Errorf("%+v", e)
			}
		})
	}
}
