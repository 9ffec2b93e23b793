package responses_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/responses"
)

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		return responses.New(responses.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "gpt-5.2", BaseURL: url, Client: client}})
	},
	Plain: func(url string, client *http.Client) hermes.Model {
		return responses.New(responses.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "gpt-4.1", BaseURL: url, Client: client}})
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
	modelsuite.Run(t, contract)
}

func answer(a modelsuite.Answer) string {
	var b strings.Builder
	event := func(kind, format string, args ...any) {
		fmt.Fprintf(&b, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fmt.Sprintf(format, args...))
	}
	quote := func(s string) string {
		q, _ := json.Marshal(s)
		return string(q)
	}
	event("response.created", `,"response":{"object":"response","status":"in_progress","output":[]}`)
	if len(a.Thinking) > 0 {
		event("response.output_item.added", `,"output_index":9,"item":{"id":"rs_1","type":"reasoning","summary":[]}`)
		for _, piece := range a.Thinking {
			event("response.reasoning_summary_text.delta", `,"item_id":"rs_1","output_index":9,"summary_index":0,"delta":%s`, quote(piece))
		}
		event("response.output_item.done", `,"output_index":9,"item":{"id":"rs_1","type":"reasoning","encrypted_content":"ZW5j","summary":[{"type":"summary_text","text":%s}]}`, quote(strings.Join(a.Thinking, "")))
	}
	event("response.output_item.added", `,"output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}`)
	for _, piece := range a.Text {
		event("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":%s`, quote(piece))
	}
	event("response.output_item.done", `,"output_index":0,"item":{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":%s}],"role":"assistant"}`, quote(strings.Join(a.Text, "")))
	for i, c := range a.Calls {
		event("response.output_item.added", `,"output_index":%d,"item":{"id":"fc_%d","type":"function_call","call_id":%q,"name":%q,"arguments":""}`, i+1, i, c.ID, c.Name)
	}
	for half := range 2 { // interleaved
		for i, c := range a.Calls {
			n := len(c.Arguments) / 2
			event("response.function_call_arguments.delta", `,"item_id":"fc_%d","output_index":%d,"delta":%s`, i, i+1, quote([]string{c.Arguments[:n], c.Arguments[n:]}[half]))
		}
	}
	for i, c := range a.Calls {
		event("response.output_item.done", `,"output_index":%d,"item":{"id":"fc_%d","type":"function_call","status":"completed","call_id":%q,"name":%q,"arguments":%s}`, i+1, i, c.ID, c.Name, quote(c.Arguments))
	}
	status, why := "completed", "null"
	if reason := map[hermes.Finish]string{hermes.FinishLength: "max_output_tokens", hermes.FinishFilter: "content_filter"}[a.Finish]; reason != "" {
		status, why = "incomplete", fmt.Sprintf(`{"reason":%q}`, reason)
	}
	event("response."+status, `,"response":{"object":"response","status":%q,"incomplete_details":%s,"output":[],"usage":{"input_tokens":%d,"output_tokens":%d,`+
		`"input_tokens_details":{"cached_tokens":%d},"output_tokens_details":{"reasoning_tokens":%d}}}`,
		status, why, a.Usage.Input+a.Usage.CacheRead, a.Usage.Output, a.Usage.CacheRead, a.Usage.Reasoning)
	return b.String()
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "responses", func([]byte) error { return nil })
}
