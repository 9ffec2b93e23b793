package message_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hermes/internal/mcp/message"
)

func TestRequestsForInput(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"content":[]}`: `{"content":[]}`,
		`{"inputRequests":{"a":{"method":"roots/list"}}}`:                                         `{"inputRequests":{"a":{"method":"roots/list","params":{}}}}`,
		`{"inputRequests":{"a":{"method":"roots/list","params":null}}}`:                           `{"inputRequests":{"a":{"method":"roots/list","params":{}}}}`,
		`{"inputRequests":{"a":{"method":"x","params":{"b":1}}},"z":1}`:                           `{"inputRequests":{"a":{"method":"x","params":{"b":1}}},"z":1}`,
		`{"inputRequests":{"a":null}}`:                                                            `{"inputRequests":{}}`,
		`{"inputRequests":{"a":null},"inputRequests":5}`:                                          `{"inputRequests":null}`,
		`{"input\u0052equests":{"a":null},"inputRequests":{"b":{"method":"m","params":{}}}}`:      `{"inputRequests":{"b":{"method":"m","params":{}}}}`,
		`{"input\u0052equests":{"a":null}`:                                                        `null`,
		`{"structuredContent":{"inputRequests":{"a":null}},"content":[{"text":"inputRequests"}]}`: `{"structuredContent":{"inputRequests":{"a":null}},"content":[{"text":"inputRequests"}]}`,
	} {
		if got, err := message.Result(json.RawMessage(in)); string(got) != want || err != nil {
			t.Errorf("%s\ngot  %s %v\nwant %s", in, got, err, want)
		}
	}
}

// FuzzResult reads results with the SDK, which must not panic.
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"resultType":"input_required","inputRequests":{"a":null,"b":{"method":"roots/list"}}}`))
	f.Add([]byte(`{"input\u0052equests":{"a":null},"inputRequests":5}`))
	f.Add([]byte(`{"content":[null],"_meta":null,"inputRequests":{"":{"method":"elicitation/create","params":[]}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		out, _ := message.Result(raw)
		for _, into := range []any{new(mcp.CallToolResult), new(mcp.GetPromptResult), new(mcp.ReadResourceResult)} {
			_ = json.Unmarshal(out, into) // it may be refused
		}
	})
}
