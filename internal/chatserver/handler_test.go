package chatserver_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hermes/internal/chatserver"
)

// post sends a body and returns the status and the answer.
func post(t *testing.T, h http.Handler, body string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	return w.Code, w.Body.String()
}

func says(a chatserver.Answer) *chatserver.Handler {
	return &chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) { return a, nil }}
}

func call(id, name, arguments string) chatserver.Call {
	return chatserver.Call{ID: id, Type: "function", Function: chatserver.Function{Name: name, Arguments: arguments}}
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func TestWholeAnswer(t *testing.T) {
	t.Parallel()
	status, body := post(t, says(chatserver.Answer{Text: "Good day.", Reasoning: "be polite"}), hello)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	var got struct {
		Object  string
		Choices []struct {
			Message struct {
				Role             string
				Content          string
				ReasoningContent string `json:"reasoning_content"`
			}
			FinishReason string `json:"finish_reason"`
		}
		Usage struct {
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
			TotalTokens      int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Choices[0]
	if got.Object != "chat.completion" || c.Message.Role != "assistant" || c.Message.Content != "Good day." ||
		c.Message.ReasoningContent != "be polite" || c.FinishReason != "stop" {
		t.Errorf("got %+v", got)
	}
	if u := got.Usage; u.PromptTokens == 0 || u.CompletionTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage: got %+v", u)
	}
}

// event is the part of a chunk that the stream tests look at.
type event struct {
	Object  string
	Choices []struct {
		Delta struct {
			Role, Content    string
			ReasoningContent string `json:"reasoning_content"`
			ToolCalls        []struct {
				Index    int
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt  int `json:"prompt_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func mustEvents(t *testing.T, body string) []event {
	t.Helper()
	var all []event
	lines := bufio.NewScanner(strings.NewReader(body))
	done := false
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if done = text == "[DONE]"; done {
			break
		}
		var e event
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		all = append(all, e)
	}
	if !done {
		t.Errorf("the stream does not end with [DONE]: %s", body)
	}
	return all
}

func TestStreamedAnswerAddsUp(t *testing.T) {
	t.Parallel()
	answer := chatserver.Answer{
		Reasoning: "two things to look at",
		Text:      "First I look. Größe:\n\n  12 €",
		Calls: []chatserver.Call{
			call("a", "read_file", `{"path":"Übung/ein ziemlich langer Name für eine Datei.txt"}`),
			call("b", "todo", `{}`),
		},
	}
	_, body := post(t, says(answer), `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]}`)
	events := mustEvents(t, body)

	var got chatserver.Answer
	contents := 0
	for _, e := range events {
		if e.Object != "chat.completion.chunk" {
			t.Errorf("object: got %q", e.Object)
		}
		for _, c := range e.Choices {
			got.Text += c.Delta.Content
			got.Reasoning += c.Delta.ReasoningContent
			got.Finish += c.FinishReason
			if c.Delta.Content != "" {
				contents++
			}
			for _, part := range c.Delta.ToolCalls {
				if part.ID != "" {
					got.Calls = append(got.Calls, call(part.ID, part.Function.Name, ""))
				}
				got.Calls[part.Index].Function.Arguments += part.Function.Arguments
			}
		}
	}
	answer.Finish = "tool_calls"
	if diff := cmp.Diff(answer, got); diff != "" {
		t.Errorf("the pieces do not add up (-sent +received):\n%s", diff)
	}
	if contents < 4 {
		t.Errorf("the text came in %d pieces, want one for each word", contents)
	}
	if last := events[len(events)-1]; last.Usage == nil || len(last.Choices) != 0 {
		t.Errorf("the last event is %+v, want usage with no choice", last)
	}
}

func TestUsageIsSentOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	_, body := post(t, says(chatserver.Answer{Text: "x"}), `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)
	for _, e := range mustEvents(t, body) {
		if e.Usage != nil || len(e.Choices) == 0 {
			t.Errorf("got %+v, want choices and no usage", e)
		}
	}
}

func TestLongPrefixCountsAsCached(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 2000)
	turn := func(more string) string {
		return `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"` + long + `"},{"role":"user","content":"x"}` + more + `]}`
	}
	for _, tt := range []struct {
		name, more string
		atLeast    int
	}{
		{"first request", "", 0},
		{"second request", `,{"role":"assistant","content":"y"},{"role":"user","content":"z"}`, 2048},
	} {
		_, body := post(t, says(chatserver.Answer{Text: "ok"}), turn(tt.more))
		events := mustEvents(t, body)
		u := events[len(events)-1].Usage
		if got := u.Details.Cached; (tt.atLeast == 0) != (got == 0) || got < tt.atLeast || got > u.Prompt {
			t.Errorf("%s: %d of %d tokens cached, want at least %d", tt.name, got, u.Prompt, tt.atLeast)
		}
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	t.Parallel()
	user := `{"role":"user","content":"x"}`
	asked := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	answered := `{"role":"tool","tool_call_id":"a","content":"r"}`
	for _, tt := range []struct{ name, body, want string }{
		{"no JSON", `{`, "JSON"},
		{"no model", `{"messages":[` + user + `]}`, "model"},
		{"no messages", `{"model":"m"}`, "empty"},
		{"unknown role", `{"model":"m","messages":[{"role":"boss","content":"x"}]}`, "boss"},
		{"open call at the end", `{"model":"m","messages":[` + user + `,` + asked + `]}`, "without an answer"},
		{"open call before the user message", `{"model":"m","messages":[` + user + `,` + asked + `,` + user + `]}`, "answered first"},
		{"answer to nothing", `{"model":"m","messages":[` + user + `,` + answered + `]}`, "no earlier assistant message"},
		{"answered twice", `{"model":"m","messages":[` + user + `,` + asked + `,` + answered + `,` + answered + `]}`, "no earlier assistant message"},
		{"broken arguments", `{"model":"m","messages":[` + user + `,` + strings.Replace(asked, `"{}"`, `"{"`, 1) + `,` + answered + `]}`, "valid JSON"},
	} {
		status, body := post(t, says(chatserver.Answer{Text: "x"}), tt.body)
		var got struct {
			Error struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if status != http.StatusBadRequest || got.Error.Type != "invalid_request_error" || !strings.Contains(got.Error.Message, tt.want) {
			t.Errorf("%s: got %d %+v, want 400 and %q in the message", tt.name, status, got.Error, tt.want)
		}
	}
	ok := `{"model":"m","messages":[` + user + `,` + asked + `,` + answered + `]}`
	if status, body := post(t, says(chatserver.Answer{Text: "x"}), ok); status != http.StatusOK {
		t.Errorf("a good transcript got %d: %s", status, body)
	}
}

func TestOtherPaths(t *testing.T) {
	t.Parallel()
	failing := &chatserver.Handler{Model: "m", Decide: func(*chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{}, errors.New("lost the thread")
	}}
	for _, tt := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{http.MethodGet, "/v1/models", "", 200, `"id":"m"`},
		{http.MethodGet, "/models", "", 200, `"id":"m"`},
		{http.MethodGet, "/health", "", 200, `"ok"`},
		{http.MethodGet, "/v1/embeddings", "", 404, "try POST /v1/chat/completions"},
		{http.MethodGet, "/v1/chat/completions", "", 405, "POST"},
		{http.MethodPost, "/v1/chat/completions", hello, 500, "lost the thread"},
	} {
		w := httptest.NewRecorder()
		failing.ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body)))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) {
			t.Errorf("%s %s: got %d %s, want %d with %q", tt.method, tt.path, w.Code, w.Body, tt.status, tt.want)
		}
	}
}

func TestRequestText(t *testing.T) {
	t.Parallel()
	h := &chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		return chatserver.Answer{Text: r.Messages[0].Text()}, nil
	}}
	for content, want := range map[string]string{
		`"plain"`: "plain",
		`[{"type":"text","text":"in "},{"type":"image_url"},{"type":"text","text":"parts"}]`: "in parts",
		`null`: "",
	} {
		_, body := post(t, h, `{"model":"m","messages":[{"role":"user","content":`+content+`}]}`)
		if !strings.Contains(body, `"content":"`+want+`"`) {
			t.Errorf("content %s: got %s, want %q", content, body, want)
		}
	}
}

func TestOffers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"tools":[{"type":"function","function":{"name":"todo"}}]}`:                      true,
		`{"tools":[{"type":"function","function":{"name":"todo"}}],"tool_choice":"auto"}`: true,
		`{"tools":[{"type":"function","function":{"name":"todo"}}],"tool_choice":"none"}`: false,
		`{"tools":[{"type":"function","function":{"name":"other"}}]}`:                     false,
		`{}`: false,
	} {
		var r chatserver.Request
		if err := json.Unmarshal([]byte(body), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.Offers("todo"); got != want {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	f.Add([]byte(hello))
	f.Add([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":[{"text":"x"}]}]}`))
	h := &chatserver.Handler{Model: "m", Decide: func(r *chatserver.Request) (chatserver.Answer, error) {
		text := r.Messages[len(r.Messages)-1].Text()
		return chatserver.Answer{Text: text, Calls: []chatserver.Call{call("a", "f", text)}}, nil
	}}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader(body)))
		if w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Errorf("status %d for %q", w.Code, body)
		}
		if _, err := io.Copy(io.Discard, w.Body); err != nil {
			t.Error(err)
		}
	})
}
