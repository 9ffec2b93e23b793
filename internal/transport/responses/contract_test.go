package responses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/transport/base"
	"hermes/internal/transport/responses"
)

var contract = hermestest.ModelProtocol{
	New: func(url string) hermes.Model {
		return responses.New(responses.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "gpt-5.2", BaseURL: url}})
	},
	Answer: answer,
	Failure: func() string {
		return "event: error\ndata: {\"type\":\"error\",\"code\":\"server_is_overloaded\",\"message\":\"We are overloaded\"}\n\n"
	},
	Refusal:  func(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) },
	Messages: "input",
}

func TestContract(t *testing.T) {
	t.Parallel()
	hermestest.RunModel(t, contract)
}

func answer(text []string, calls []hermes.ToolCall) string {
	var b strings.Builder
	event := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fmt.Sprintf(format, args...))
	}
	quote := func(s string) string {
		q, _ := json.Marshal(s)
		return string(q)
	}
	event("response.created", `,"response":{"object":"response","status":"in_progress","output":[]}`)
	event("response.output_item.added", `,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
	for _, piece := range text {
		event("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s`, quote(piece))
	}
	event("response.output_item.done", `,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":%s}],"role":"assistant"}`, quote(strings.Join(text, "")))
	for i, c := range calls {
		event("response.output_item.added", `,"output_index":%d,"item":{"id":"fc_%d","type":"function_call","call_id":%q,"name":%q,"arguments":""}`, i+1, i, c.ID, c.Name)
	}
	for half := range 2 { // interleaved
		for i, c := range calls {
			n := len(c.Arguments) / 2
			event("response.function_call_arguments.delta", `,"item_id":"fc_%d","output_index":%d,"delta":%s`, i, i+1, quote([]string{c.Arguments[:n], c.Arguments[n:]}[half]))
		}
	}
	for i, c := range calls {
		event("response.output_item.done", `,"output_index":%d,"item":{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%s}`, i+1, i, c.ID, c.Name, quote(c.Arguments))
	}
	event("response.completed", `,"response":{"object":"response","status":"completed","output":[],"usage":{"input_tokens":10,"output_tokens":5}}`)
	return b.String()
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	hermestest.RunHandoff(t, contract, "responses", func([]byte) error { return nil })
}
