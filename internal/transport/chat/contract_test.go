package chat_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/chat"
)

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		return chat.New(chat.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "m", BaseURL: url, Client: client}})
	},
	Answer:  answer,
	Failure: func() string { return `data: {"error":{"message":"the model is overloaded"}}` + "\n\n" },
	Refusal: func(message string) string { return fmt.Sprintf(`{"error":{"message":%q}}`, message) },
}

func TestContract(t *testing.T) {
	t.Parallel()
	modelsuite.Run(t, contract)
}

func answer(a modelsuite.Answer) string {
	var b strings.Builder
	event := func(format string, args ...any) { fmt.Fprintf(&b, "data: "+format+"\n\n", args...) }
	for _, piece := range a.Thinking {
		quoted, _ := json.Marshal(piece)
		event(`{"choices":[{"index":0,"delta":{"reasoning_content":%s},"finish_reason":null}]}`, quoted)
	}
	for _, piece := range a.Text {
		quoted, _ := json.Marshal(piece)
		event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`, quoted)
	}
	for i, c := range a.Calls {
		event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}}]}`, i, c.ID, c.Name)
	}
	for half := range 2 { // interleaved
		for i, c := range a.Calls {
			n := len(c.Arguments) / 2
			piece, _ := json.Marshal([]string{c.Arguments[:n], c.Arguments[n:]}[half])
			event(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}}]}`, i, piece)
		}
	}
	event(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, a.Finish)
	event(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}}`,
		a.Usage.Input+a.Usage.CacheRead, a.Usage.Output, a.Usage.CacheRead, a.Usage.Reasoning)
	event(`[DONE]`)
	return b.String()
}
