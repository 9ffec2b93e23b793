package anthropic_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/anthropic"
)

// FuzzAnswer feeds whole streams: whatever comes, there is one error at most,
// it is the last item, and it is a model error; or the answer has a finish.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(answer(modelsuite.Reply([]string{"a", "b"}, []hermes.ToolCall{{ID: "c", Name: "n", Arguments: "{}"}}))), true)
	f.Add([]byte(`{"content":[{"type":"tool_use","input":[]},{"type":"thinking","signature":"s"}],"stop_reason":"x"}`), false)
	f.Add([]byte("data: {\"type\":\"content_block_delta\",\"index\":-1,\"delta\":{\"partial_json\":\"x\"}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":7}"), true)
	f.Fuzz(func(t *testing.T, body []byte, events bool) {
		kind := "application/json"
		if events {
			kind = "text/event-stream"
		}
		var failed error
		var a hermes.Assembly
		for d, err := range anthropic.New(config(fixed{body, kind})).Stream(t.Context(), &hermes.Request{}) {
			if failed != nil {
				t.Fatalf("%+v, %v after the error %v", d, err, failed)
			}
			failed = err
			a.Add(d)
		}
		m := a.Message()
		if _, ok := errors.AsType[*hermes.ModelError](failed); ok == (m.Finish != "") {
			t.Fatalf("finish %q and error %v", m.Finish, failed)
		}
		named := len(m.Calls) == 0
		for _, c := range m.Calls {
			named = named || c.Name != ""
			if failed == nil && c.ID == "" {
				t.Fatalf("a call without id: %+v", c)
			}
		}
		if failed == nil && !named {
			t.Fatalf("no call has a name: %+v", m.Calls)
		}
	})
}

type fixed struct {
	body []byte
	kind string
}

func (f fixed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {f.kind}}, Body: io.NopCloser(bytes.NewReader(f.body))}, nil
}
