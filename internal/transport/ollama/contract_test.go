package ollama_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/ollama"
)

// shows answers questions about the model itself and lets all others pass.
type shows struct {
	says string
	next http.RoundTripper
}

func (s shows) RoundTrip(req *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(req.URL.Path, "/api/show") {
		return s.next.RoundTrip(req)
	}
	if s.says == "" {
		return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody, Request: req}, nil
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(s.says)), Request: req}, nil
}

// qwen is how a server describes a model.
const qwen = `{"modelfile":"…","parameters":"stop                           \"<|im_end|>\"\ntemperature                    0.6","details":{"family":"qwen3"},` +
	`"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.embedding_length":4096,"tokenizer.ggml.tokens":null},"capabilities":["completion","tools","thinking"]}`

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		client = &http.Client{Transport: shows{qwen, client.Transport}}
		return ollama.New(ollama.Config{Config: base.Config{ID: "test:m", Provider: "test", Model: "m", BaseURL: url, Client: client}})
	},
	Answer:      answer,
	Failure:     func() string { return `{"error":"the server is overloaded"}` + "\n" },
	Refusal:     func(message string) string { return fmt.Sprintf(`{"error":%q}`, message) },
	ContentType: "application/x-ndjson",
	Lacks:       []string{modelsuite.LacksFilter, modelsuite.LacksCache, modelsuite.LacksCounts},
}

func TestContract(t *testing.T) {
	t.Parallel()
	modelsuite.Run(t, contract)
}

func answer(a modelsuite.Answer) string {
	var b strings.Builder
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant"%s`+"\n", fmt.Sprintf(format, args...))
	}
	for _, piece := range a.Thinking {
		quoted, _ := json.Marshal(piece)
		line(`,"content":"","thinking":%s},"done":false}`, quoted)
	}
	for _, piece := range a.Text {
		quoted, _ := json.Marshal(piece)
		line(`,"content":%s},"done":false}`, quoted)
	}
	for _, c := range a.Calls {
		line(`,"content":"","tool_calls":[{"id":%q,"function":{"index":0,"name":%q,"arguments":%s}}]},"done":false}`, c.ID, c.Name, c.Arguments)
	}
	line(`,"content":""},"done":true,"done_reason":%q,"prompt_eval_count":%d,"eval_count":%d}`, map[bool]string{true: "length", false: "stop"}[a.Finish == hermes.FinishLength], a.Usage.Input, a.Usage.Output)
	return b.String()
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "ollama", refuse)
}

// refuse says what the server would not take, or not understand.
func refuse(body []byte) error {
	var b struct {
		Messages []struct {
			Role, Content string
			Images        []string
			ToolName      string `json:"tool_name"`
			ID            string `json:"tool_call_id"`
			Calls         []struct {
				ID       string
				Function struct {
					Name      string
					Arguments map[string]any
				}
			} `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return err
	}
	open := map[string]string{}
	for i, m := range b.Messages {
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %v", i, open)
		}
		if m.Content == "" && len(m.Images)+len(m.Calls) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		for _, c := range m.Calls {
			if c.Function.Arguments == nil {
				return fmt.Errorf("message %d: a call without arguments", i)
			}
			open[c.ID] = c.Function.Name
		}
		if m.Role != "tool" {
			continue
		}
		if name, ok := open[m.ID]; !ok || name != m.ToolName {
			return fmt.Errorf("message %d answers no call: %+v", i, m)
		}
		delete(open, m.ID)
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for %v", open)
	}
	return nil
}
