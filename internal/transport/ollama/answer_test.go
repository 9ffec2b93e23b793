package ollama_test

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
	"hermes/internal/transport/ollama"
)

func config(says string, rt http.RoundTripper) ollama.Config {
	return ollama.Config{Config: base.Config{
		ID: "ollama:qwen3:8b", Provider: "ollama", Model: "qwen3:8b", BaseURL: "http://box.invalid:11434/v1",
		Client: &http.Client{Transport: shows{says, rt}},
		Now:    func() time.Time { return time.Unix(0, 0) },
	}}
}

var tools = []hermes.Spec{{Name: "read_file", Description: "Reads."}, {Name: "todo", Description: "Plans <it>."}}

func ask(t *testing.T, file string, wordsOnly bool) (hermes.Message, error) {
	t.Helper()
	m := ollama.New(config(qwen, &modelsuite.Recorded{T: t, File: file}))
	return hermes.Collect(m.Stream(t.Context(), &hermes.Request{Messages: []hermes.Message{hermes.UserText("hi")}, Tools: tools, WordsOnly: wordsOnly}))
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	text := func(s string) []hermes.Part { return []hermes.Part{{Text: s}} }
	used := func(input, output int64) *hermes.Usage {
		return &hermes.Usage{Input: input, Output: output, Calls: 1}
	}
	tests := []struct {
		file string
		want hermes.Message
	}{
		{"text", hermes.Message{Parts: text("Grüße, \"world\"\n"), Finish: "stop", Usage: used(1837, 15)}},
		{"thinking-and-calls", hermes.Message{Parts: text("I look."), Finish: "tool_calls", Usage: used(1837, 89),
			Reasoning: []hermes.Reasoning{{Protocol: "ollama", Text: "Two files to read."}},
			Calls:     []hermes.ToolCall{{ID: "call_a", Name: "read_file", Arguments: `{"path":"a <b>.go"}`}, {Name: "todo", Arguments: `{}`}}}},
		{"spelled-out", hermes.Message{Parts: text("Let me look.\n"), Finish: "tool_calls", Usage: used(1837, 15),
			Calls: []hermes.ToolCall{{Name: "read_file", Arguments: `{"path": "a"}`}}}},
		{"spelled-json", hermes.Message{Finish: "tool_calls", Usage: used(1837, 15), Calls: []hermes.ToolCall{{Name: "todo", Arguments: `{}`}}}},
		{"spelled-unknown", hermes.Message{Parts: text(`<tool_call>{"name": "fly", "arguments": {}}</tool_call>`), Finish: "stop", Usage: used(1837, 15)}},
		{"whole", hermes.Message{Parts: text("Let me look."), Finish: "tool_calls", Usage: used(11, 7),
			Reasoning: []hermes.Reasoning{{Protocol: "ollama", Text: "Hm."}},
			Calls:     []hermes.ToolCall{{ID: "call_w", Name: "read_file", Arguments: `{"path":"a"}`}}}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file, false)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Role = hermes.RoleAssistant
			for i := range got.Calls { // ids of our own are random
				if id := got.Calls[i].ID; strings.HasPrefix(id, "call_") && len(id) > 10 {
					got.Calls[i].ID = ""
				}
			}
			if diff := cmp.Diff(got, tt.want); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

func TestNoCallsAreFoundWhereNoneAreWanted(t *testing.T) {
	t.Parallel()
	got, err := ask(t, "spelled-json", true)
	if err != nil || len(got.Calls) > 0 || got.Text() == "" {
		t.Errorf("%+v, %v", got, err)
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
		{"cut-line", hermes.ClassTimeout, fault.ErrCut, "Half of"},
		{"load", hermes.ClassServerError, fault.ErrEmpty, ""},
		{"garbage", hermes.ClassServerError, fault.ErrGarbage, ""},
		{"error-in-stream", hermes.ClassUnknown, nil, "Begin"},
		{"not-found", hermes.ClassModelNotFound, nil, ""},
		{"no-tools", hermes.ClassFormat, nil, ""},
		{"overflow", hermes.ClassOverflow, nil, ""},
		{"busy", hermes.ClassOverloaded, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			got, err := ask(t, tt.file, false)
			e, ok := errors.AsType[*hermes.ModelError](err)
			if !ok || e.Class != tt.class || tt.is != nil && !errors.Is(err, tt.is) {
				t.Fatalf("error %#v, want class %s", err, tt.class)
			}
			if got.Text() != tt.text || got.Finish != "" {
				t.Errorf("before the error came %q, finish %q", got.Text(), got.Finish)
			}
		})
	}
}

// FuzzAnswer feeds whole answers.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))))
	f.Add([]byte(`{"message":{"content":"<tool_call>{\"name\":\"todo\"}","tool_calls":[{"function":{"name":"x","arguments":"y"}}]},"done":true}`))
	f.Add([]byte("{\"error\":{}}\n[]\n{\"done\":1}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		modelsuite.CheckAnswer(t, ollama.New(config(qwen, &modelsuite.Recorded{Raw: body, Kind: "application/x-ndjson"})))
	})
}

// FuzzShow feeds what a server says of a model.
func FuzzShow(f *testing.F) {
	f.Add([]byte(qwen))
	f.Add([]byte(`{"parameters":"num_ctx x\nnum_ctx 9","model_info":{"a.context_length":1e99},"capabilities":"x"}`))
	f.Fuzz(func(t *testing.T, says []byte) {
		modelsuite.CheckAnswer(t, ollama.New(config(string(says), &modelsuite.Recorded{Raw: []byte(answer(modelsuite.Answer{Finish: hermes.FinishStop, Usage: hermes.Usage{Input: 10, Output: 5}})), Kind: "application/x-ndjson"})))
	})
}
