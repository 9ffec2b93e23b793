package bedrock_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/fault"
	"hermes/internal/transport/base"
	"hermes/internal/transport/bedrock"
)

func config(rt http.RoundTripper) bedrock.Config {
	return bedrock.Config{
		Config: base.Config{
			ID: "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0", Provider: "bedrock", Model: "anthropic.claude-sonnet-4-5-20250929-v1:0",
			BaseURL: "https://bedrock-runtime.eu-central-1.amazonaws.com", Client: &http.Client{Transport: rt},
			Now: func() time.Time { return time.Unix(0, 0) },
		},
		Access: bedrock.Access{KeyID: "AKID", Secret: "secret", Token: "temporary"},
	}
}

// recording reads testdata: an exchange, or the events of a stream, one a line,
// which are put into the frames that they come in.
func recording(t *testing.T, file string) *modelsuite.Recorded {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file+".events"))
	if os.IsNotExist(err) {
		return &modelsuite.Recorded{T: t, File: file}
	}
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(raw)) {
		kind, rest, _ := strings.Cut(line, " ")
		name, payload, _ := strings.Cut(rest, " ")
		b.WriteString(frame(kind, name, strings.TrimSpace(payload)))
	}
	return &modelsuite.Recorded{T: t, Raw: []byte(b.String()), Kind: frames}
}

func ask(t *testing.T, file string) (hermes.Message, error) {
	t.Helper()
	m := bedrock.New(config(recording(t, file)))
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
		{"reasoning-and-calls", hermes.Message{Finish: "tool_calls", Usage: used(89),
			Reasoning: []hermes.Reasoning{
				{Protocol: "bedrock", Text: "Two files to read.", Signature: "EqQBCg=="},
				{Protocol: "bedrock", Opaque: "cmVkYWN0ZWQ="}},
			Calls: []hermes.ToolCall{
				{ID: "tooluse_a", Name: "read_file", Arguments: `{"path": "a.go"}`},
				{ID: "tooluse_b", Name: "todo", Arguments: `{}`}}}},
		{"guardrail", hermes.Message{Parts: text("I cannot."), Finish: "content_filter", Usage: used(3)}},
		{"no-metadata", hermes.Message{Parts: text("ok"), Finish: "stop"}},
		{"whole", hermes.Message{Parts: text("Let me look."), Finish: "tool_calls",
			Reasoning: []hermes.Reasoning{{Protocol: "bedrock", Text: "Hm.", Signature: "c2ln"}},
			Calls:     []hermes.ToolCall{{ID: "tooluse_w", Name: "read_file", Arguments: `{"path":"a"}`}},
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
			for i, c := range got.Calls {
				got.Calls[i].Arguments = strings.NewReplacer("\n", "", "       ", "", "      ", "", `": "a"`, `":"a"`).Replace(c.Arguments)
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
		retry bool
		is    error
		text  string // what came before
	}{
		{"cut-text", hermes.ClassTimeout, true, fault.ErrCut, "Half of"},
		{"cut-call", hermes.ClassTimeout, true, fault.ErrCut, ""},
		{"malformed", hermes.ClassServerError, true, nil, ""},
		{"throttled", hermes.ClassRateLimit, true, nil, "Begin"},
		{"internal", hermes.ClassServerError, true, nil, ""},
		{"model-error", hermes.ClassServerError, true, nil, ""},
		{"too-long", hermes.ClassOverflow, false, nil, ""},
		{"rate-limit", hermes.ClassRateLimit, true, nil, ""},
		{"not-ready", hermes.ClassRateLimit, true, nil, ""},
		{"overflow", hermes.ClassOverflow, false, nil, ""},
		{"denied", hermes.ClassAuth, false, nil, ""},
		{"expired", hermes.ClassAuth, false, nil, ""},
		{"not-found", hermes.ClassModelNotFound, false, nil, ""},
		{"model-failed", hermes.ClassServerError, true, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file)
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != tt.class || e.Retry != tt.retry || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %#v, want class %s", err, tt.class)
			}
			if got.Text() != tt.text || got.Finish != "" {
				t.Errorf("before the error came %q, finish %q", got.Text(), got.Finish)
			}
		})
	}
}

// FuzzAnswer feeds whole answers, streamed or not.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))), true)
	f.Add([]byte(`{"output":{"message":{"content":[{"toolUse":{"name":"a","input":[]}},{"reasoningContent":{}}]}},"stopReason":"x"}`), false)
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		kind := "application/json"
		if events {
			kind = frames
		}
		modelsuite.CheckAnswer(t, bedrock.New(config(&modelsuite.Recorded{Raw: body, Kind: kind})))
	})
}

// FuzzEvents feeds events whose frames are whole.
func FuzzEvents(f *testing.F) {
	f.Add("event", "contentBlockStart", `{"start":{"toolUse":{"name":"n"}}}`, "messageStop", `{"stopReason":1}`)
	f.Add("exception", "x", ``, "metadata", `{}`)
	f.Add("event", "contentBlockDelta", `{"contentBlockIndex":-1,"delta":{"reasoningContent":{"redactedContent":"!"}}}`, "contentBlockStop", `{"contentBlockIndex":-1}`)
	f.Fuzz(func(t *testing.T, kind, name, payload, next, second string) {
		if len(kind) > 100 || len(name) > 100 || len(next) > 100 {
			return // header names of frames are short
		}
		body := frame(kind, name, payload) + frame("event", next, second) + frame("event", "messageStop", `{"stopReason":"end_turn"}`)
		modelsuite.CheckAnswer(t, bedrock.New(config(&modelsuite.Recorded{Raw: []byte(body), Kind: frames})))
	})
}
