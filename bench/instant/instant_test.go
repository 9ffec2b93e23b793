package instant_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hermes/bench/instant"
	"hermes/internal/chatserver"
)

// request builds a request with a prompt and a number of tool results after it.
func request(t *testing.T, prompt string, answered int, tool string) *chatserver.Request {
	t.Helper()
	content, err := json.Marshal(prompt)
	if err != nil {
		t.Fatal(err)
	}
	r := &chatserver.Request{Messages: []chatserver.Message{{Role: "user", Content: content}}}
	for range answered {
		r.Messages = append(r.Messages, chatserver.Message{Role: "assistant"}, chatserver.Message{Role: "tool"})
	}
	if tool != "" {
		var offered chatserver.Tool
		offered.Function.Name = tool
		r.Tools = []chatserver.Tool{offered}
	}
	return r
}

func TestOrders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prompt   string
		answered int
		tool     string
		calls    int
		text     string
	}{
		{instant.Hello, 0, "terminal", 0, "Hello."},
		{"a note before\n\n" + instant.Shell(3), 0, "terminal", 1, ""},
		{instant.Shell(3), 2, "terminal", 1, ""},
		{instant.Shell(3), 3, "terminal", 0, "Hello."},
		{instant.Shell(3), 0, "", 0, "Hello."},
		{instant.Parallel(8), 0, "terminal", 8, ""},
		{instant.Parallel(8), 8, "terminal", 0, "Hello."},
		{instant.Chunks(3), 0, "terminal", 0, "word word word "},
		{"no order at all", 0, "terminal", 0, "Hello."},
	} {
		got, err := instant.Decide(request(t, tt.prompt, tt.answered, tt.tool))
		if err != nil || len(got.Calls) != tt.calls || got.Text != tt.text {
			t.Errorf("%q after %d results: got %d calls, text %q, %v; want %d, %q", tt.prompt, tt.answered, len(got.Calls), got.Text, err, tt.calls, tt.text)
		}
		for _, c := range got.Calls {
			if !strings.Contains(c.Function.Arguments, "echo") || !json.Valid([]byte(c.Function.Arguments)) {
				t.Errorf("%q: arguments %s", tt.prompt, c.Function.Arguments)
			}
		}
	}
}

func TestWorkedRefusesWhatWasNotDone(t *testing.T) {
	t.Parallel()
	tool := func(text string) string { return `{"role":"tool","content":"` + text + `"}` }
	for _, tt := range []struct {
		name     string
		messages []string
		ok       bool
	}{
		{"all", []string{tool("done-1"), tool("output: done-2")}, true},
		{"one is missing", []string{tool("done-1")}, false},
		{"out of order", []string{tool("done-2"), tool("done-1")}, false},
		{"refused", []string{tool("done-1"), tool("not allowed")}, false},
	} {
		err := instant.Worked([]byte(`{"messages":[`+strings.Join(tt.messages, ",")+`]}`), 2)
		if (err == nil) != tt.ok {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
