package bedrock_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"hermes"
	"hermes/hermestest/modelsuite"
	"hermes/internal/transport/base"
	"hermes/internal/transport/bedrock"
)

const frames = "application/vnd.amazon.eventstream"

// frame is an event, or an exception, as the service frames it.
func frame(kind, name, payload string) string {
	var b bytes.Buffer
	msg := eventstream.Message{Payload: []byte(payload)}
	msg.Headers.Set(":message-type", eventstream.StringValue(kind))
	msg.Headers.Set(":"+kind+"-type", eventstream.StringValue(name))
	msg.Headers.Set(":content-type", eventstream.StringValue("application/json"))
	if err := eventstream.NewEncoder().Encode(&b, msg); err != nil {
		panic(err)
	}
	return b.String()
}

var contract = modelsuite.Protocol{
	New: func(url string, client *http.Client) hermes.Model {
		return bedrock.New(bedrock.Config{
			Config: base.Config{ID: "test:m", Provider: "test", Model: "anthropic.claude-sonnet-4-5-20250929-v1:0", BaseURL: url, Client: client},
			Access: bedrock.Access{Region: "eu-central-1", KeyID: "AKID", Secret: "secret"},
		})
	},
	Answer: answer,
	Failure: func() string {
		return frame("exception", "serviceUnavailableException", `{"message":"Overloaded"}`)
	},
	Refusal:     func(message string) string { return fmt.Sprintf(`{"message":%q}`, message) },
	ContentType: frames,
	Lacks:       []string{modelsuite.LacksCounts},
}

func TestContract(t *testing.T) {
	t.Parallel()
	modelsuite.Run(t, contract)
}

func answer(a modelsuite.Answer) string {
	var b strings.Builder
	event := func(kind, format string, args ...any) {
		b.WriteString(frame("event", kind, fmt.Sprintf(format, args...)))
	}
	quote := func(s string) string {
		q, _ := json.Marshal(s)
		return string(q)
	}
	event("messageStart", `{"role":"assistant"}`)
	for i, piece := range append(a.Thinking, "") {
		switch {
		case len(a.Thinking) == 0:
		case i < len(a.Thinking):
			event("contentBlockDelta", `{"contentBlockIndex":9,"delta":{"reasoningContent":{"text":%s}}}`, quote(piece))
		default:
			event("contentBlockDelta", `{"contentBlockIndex":9,"delta":{"reasoningContent":{"signature":"c2ln"}}}`)
			event("contentBlockStop", `{"contentBlockIndex":9}`)
		}
	}
	for _, piece := range a.Text {
		event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":%s}}`, quote(piece))
	}
	event("contentBlockStop", `{"contentBlockIndex":0}`)
	for i, c := range a.Calls {
		event("contentBlockStart", `{"contentBlockIndex":%d,"start":{"toolUse":{"toolUseId":%q,"name":%q}}}`, i+1, c.ID, c.Name)
	}
	for half := range 2 { // interleaved
		for i, c := range a.Calls {
			n := len(c.Arguments) / 2
			event("contentBlockDelta", `{"contentBlockIndex":%d,"delta":{"toolUse":{"input":%s}}}`, i+1, quote([]string{c.Arguments[:n], c.Arguments[n:]}[half]))
		}
	}
	for i := range a.Calls {
		event("contentBlockStop", `{"contentBlockIndex":%d}`, i+1)
	}
	stop := map[hermes.Finish]string{hermes.FinishStop: "end_turn", hermes.FinishCalls: "tool_use", hermes.FinishLength: "max_tokens", hermes.FinishFilter: "content_filtered"}[a.Finish]
	event("messageStop", `{"stopReason":%q}`, stop)
	event("metadata", `{"usage":{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d},"metrics":{"latencyMs":1}}`, a.Usage.Input, a.Usage.Output, a.Usage.CacheRead)
	return b.String()
}

func TestHandoff(t *testing.T) {
	t.Parallel()
	modelsuite.RunHandoff(t, contract, "bedrock", refuse)
}

var callID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// refuse says what the service would not take.
func refuse(body []byte) error {
	type block struct {
		Text  string
		Image *struct{ Source struct{ Bytes []byte } }
		Use   *struct {
			ID, Name string
			Input    map[string]any
		} `json:"toolUse"`
		Result *struct {
			ToolUseID string
			Content   []struct {
				Text  string
				Image any
			}
			Status string
		} `json:"toolResult"`
		Reasoning *struct {
			ReasoningText   *struct{ Signature string }
			RedactedContent []byte
		} `json:"reasoningContent"`
	}
	var b struct {
		Messages []struct {
			Role    string
			Content []block
		}
	}
	if err := json.Unmarshal(bytes.ReplaceAll(body, []byte(`"toolUse":{"toolUseId"`), []byte(`"toolUse":{"id"`)), &b); err != nil {
		return err
	}
	var open []string
	for i, m := range b.Messages {
		if want := []string{"user", "assistant"}[i%2]; m.Role != want || len(m.Content) == 0 {
			return fmt.Errorf("turn %d is of %q, with %d blocks", i, m.Role, len(m.Content))
		}
		var calls, results []string
		for j, c := range m.Content {
			switch {
			case c.Use != nil:
				if !callID.MatchString(c.Use.ID) || c.Use.Name == "" || c.Use.Input == nil {
					return fmt.Errorf("turn %d: call %+v", i, c.Use)
				}
				calls = append(calls, c.Use.ID)
			case c.Result != nil:
				if len(results) != j || len(c.Result.Content) == 0 {
					return fmt.Errorf("turn %d: a result comes late or is empty", i)
				}
				results = append(results, c.Result.ToolUseID)
			case c.Reasoning != nil:
				if r := c.Reasoning; len(r.RedactedContent) == 0 && (r.ReasoningText == nil || r.ReasoningText.Signature == "") {
					return fmt.Errorf("turn %d: unsigned reasoning", i)
				}
			case strings.TrimSpace(c.Text) == "" && c.Image == nil:
				return fmt.Errorf("turn %d: an empty block", i)
			}
		}
		if strings.Join(open, ",") != strings.Join(results, ",") {
			return fmt.Errorf("turn %d: the calls %q got the results %q", i, open, results)
		}
		open = calls
	}
	if len(open) > 0 {
		return fmt.Errorf("no result for %q", open)
	}
	return nil
}
