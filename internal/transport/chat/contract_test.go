package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest"
	"hermes/internal/transport/base"
	"hermes/internal/transport/chat"
)

var contract = hermestest.ModelProtocol{
	New: func(url string) hermes.Model {
		return chat.New(chat.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "m", BaseURL: url}})
	},
	Answer:  answer,
	Failure: func() string { return `data: {"error":{"message":"the model is overloaded"}}` + "\n\n" },
	Refusal: func(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) },
}

func TestContract(t *testing.T) {
	t.Parallel()
	hermestest.RunModel(t, contract)
}

func answer(text []string, calls []hermes.ToolCall) string {
	var b strings.Builder
	event := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	for _, piece := range text {
		quoted, _ := json.Marshal(piece)
		event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quoted)
	}
	for i, c := range calls {
		event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}}]}`, i, c.ID, c.Name)
	}
	for half := range 2 { // interleaved
		for i, c := range calls {
			n := len(c.Arguments) / 2
			piece, _ := json.Marshal([]string{c.Arguments[:n], c.Arguments[n:]}[half])
			event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, i, piece)
		}
	}
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	event(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, finish)
	event(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}`)
	event(`[DONE]`)
	return b.String()
}
