package modelsuite

import (
	"fmt"
	"testing"

	"hermes"
)

// LongSession returns a request with n messages: some user messages, and steps
// with tool results of about one kilobyte.
func LongSession(n int) *hermes.Request {
	r := contractRequest()
	r.System, r.Messages = fmt.Sprintf("%8192s", "You are a test."), nil
	for i := 0; len(r.Messages) < n; i++ {
		id := fmt.Sprintf("call_%08d", i)
		if i%8 == 0 {
			r.Messages = append(r.Messages, hermes.UserText(fmt.Sprintf("Please do the thing with the number %d.", i)))
		}
		r.Messages = append(r.Messages,
			hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: "I look at the next file."}}, Calls: []hermes.ToolCall{{ID: id, Name: "read_file", Arguments: fmt.Sprintf(`{"path":"internal/x/%d.go"}`, i)}}},
			hermes.Message{Role: hermes.RoleTool, CallID: id, ToolName: "read_file", Parts: []hermes.Part{{Text: fmt.Sprintf("%d|%1000s\n\"quoted\" <tag>", i, "x")}}})
	}
	r.Messages = append(r.Messages[:n-1:n-1], hermes.UserText("And now?"))
	return r
}

// BenchmarkCall calls a model that answers at once, so that it measures the
// building of requests. A session of 2,000 messages may take 5 ms.
func BenchmarkCall(b *testing.B, m hermes.Model, r *hermes.Request) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := hermes.Collect(m.Stream(b.Context(), r)); err != nil {
			b.Fatal(err)
		}
	}
}
