package anthropic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/anthropic"
	"hermes/internal/transport/base"
)

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		return anthropic.New(anthropic.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "claude-sonnet-4-6", BaseURL: url, Client: client}})
	},
	Answer: answer,
	Lacks:  []string{modelsuite.LacksCounts},
	Failure: func() string {
		return "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	},
	Refusal: func(message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":"some_error","message":%q}}`, message)
	},
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
	event("message_start", `,"message":{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":1}}`, a.Usage.Input, a.Usage.CacheRead)
	if len(a.Thinking) > 0 {
		event("content_block_start", `,"index":9,"content_block":{"type":"thinking","thinking":"","signature":""}`)
		for _, piece := range a.Thinking {
			quoted, _ := json.Marshal(piece)
			event("content_block_delta", `,"index":9,"delta":{"type":"thinking_delta","thinking":%s}`, quoted)
		}
		event("content_block_delta", `,"index":9,"delta":{"type":"signature_delta","signature":"c2ln"}`)
		event("content_block_stop", `,"index":9`)
	}
	event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	for _, piece := range a.Text {
		quoted, _ := json.Marshal(piece)
		event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":%s}`, quoted)
	}
	event("content_block_stop", `,"index":0`)
	for i, c := range a.Calls {
		event("content_block_start", `,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}`, i+1, c.ID, c.Name)
		n := len(c.Arguments) / 2
		for _, piece := range []string{c.Arguments[:n], c.Arguments[n:]} {
			quoted, _ := json.Marshal(piece)
			event("content_block_delta", `,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, i+1, quoted)
		}
		event("content_block_stop", `,"index":%d`, i+1)
	}
	stop := map[hermes.Finish]string{hermes.FinishStop: "end_turn", hermes.FinishCalls: "tool_use", hermes.FinishLength: "max_tokens", hermes.FinishFilter: "refusal"}[a.Finish]
	event("message_delta", `,"delta":{"stop_reason":%q},"usage":{"output_tokens":%d}`, stop, a.Usage.Output)
	event("message_stop", "")
	return b.String()
}
