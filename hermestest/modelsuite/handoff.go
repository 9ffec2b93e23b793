package modelsuite

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hermes"
)

// Handoff is a conversation that began with one protocol and continues with
// another.
type Handoff struct {
	Name     string
	Protocol string // of its reasoning blocks
	Messages []hermes.Message
	// Says are texts that must be sent; Foreign are opaque fields that only
	// their own protocol may get back.
	Says, Foreign []string
}

// Handoffs returns a conversation of each protocol, and one with the remains of
// interruptions. Every transport must be able to continue each of them.
func Handoffs() []Handoff {
	list := []Handoff{
		fromAnthropic(), fromResponses(), fromChat(), fromGemini(), fromOllama(), fromBedrock(), brokenOff(), oddCalls(),
	}
	all := Handoff{Name: "one after the other", Protocol: "many"}
	for _, h := range list {
		all.Messages = append(all.Messages, h.Messages...)
		all.Says = append(all.Says, h.Says...)
	}
	return append(list, all)
}

// RunHandoff lets a model continue every conversation of [Handoffs]. name is
// the protocol's name in its reasoning blocks. check checks the body of each
// request and returns what the service would refuse.
func RunHandoff(t *testing.T, w Protocol, name string, check func(body []byte) error) {
	for _, h := range Handoffs() {
		t.Run(h.Name, func(t *testing.T) {
			var body string
			m := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				body = string(raw)
				w.eventStream(w.Answer(Reply([]string{"ok"}, nil)))(rw, r)
			})
			r := contractRequest()
			r.Messages = h.Messages
			was := deepCopy(t, r)
			got, err := drain(t, m, t.Context(), r)
			if err != nil || got.Text() != "ok" {
				t.Fatalf("%+v, %v", got, err)
			}
			if text := deepCopy(t, r); len(text) != len(was) {
				t.Error("the request was changed")
			}
			if err := check([]byte(body)); err != nil {
				t.Errorf("%v\n%s", err, body)
			}
			if err := checkCalls([]byte(body)); err != nil {
				t.Errorf("%v\n%s", err, body)
			}
			for _, words := range h.Says {
				if !strings.Contains(body, words) {
					t.Errorf("%q was not sent:\n%s", words, body)
				}
			}
			for _, opaque := range h.Foreign {
				if h.Protocol != name && strings.Contains(body, opaque) {
					t.Errorf("%q of the protocol %s was sent:\n%s", opaque, h.Protocol, body)
				}
			}
		})
	}
}

func handoffCalls(text string, reasoning []hermes.Reasoning, calls ...hermes.ToolCall) hermes.Message {
	m := hermes.Message{Role: hermes.RoleAssistant, Reasoning: reasoning, Calls: calls, Finish: hermes.FinishCalls}
	if text != "" {
		m.Parts = []hermes.Part{{Text: text}}
	}
	return m
}

func handoffWords(text string) hermes.Message {
	return hermes.Message{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: text}}, Finish: hermes.FinishStop}
}

func handoffResult(id, text string) hermes.Message {
	return hermes.Message{Role: hermes.RoleTool, CallID: id, ToolName: "read_file", Parts: []hermes.Part{{Text: text}}}
}

// pixel is a picture of 1x1, as PNG.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89")

func fromAnthropic() Handoff {
	shot := handoffResult("toolu_01A-x", "the screen")
	shot.Parts = append(shot.Parts, hermes.Part{Image: &hermes.Image{MediaType: "image/png", Data: pixel}})
	failed := handoffResult("toolu_01B", "no such file: b.go")
	failed.Failed = true
	return Handoff{
		Name: "anthropic", Protocol: "anthropic",
		Messages: []hermes.Message{
			hermes.UserText("look at both"),
			handoffCalls("I look.", []hermes.Reasoning{{Protocol: "anthropic", Text: "two files", Signature: "anthropic-signature"}, {Protocol: "anthropic", Opaque: "anthropic-redacted"}},
				hermes.ToolCall{ID: "toolu_01A-x", Name: "read_file", Arguments: `{"path":"a.go"}`}, hermes.ToolCall{ID: "toolu_01B", Name: "read_file", Arguments: `{"path":"b.go"}`}),
			shot, failed,
			handoffWords("One is missing."),
			hermes.UserText("and now?"),
		},
		Says:    []string{"look at both", "I look.", "the screen", "no such file: b.go", "One is missing.", "and now?"},
		Foreign: []string{"anthropic-signature", "anthropic-redacted"},
	}
}

func fromResponses() Handoff {
	return Handoff{
		Name: "responses", Protocol: "responses",
		Messages: []hermes.Message{
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "what is this?"}, {Image: &hermes.Image{MediaType: "image/jpeg", Data: pixel}}, {Text: "a recalled note", Hidden: true}}},
			handoffCalls("", []hermes.Reasoning{{Protocol: "responses", Text: "a summary", Opaque: "responses-encrypted"}, {Protocol: "responses", Text: "I will look it up.", Signature: "commentary"}},
				hermes.ToolCall{ID: "call_abc|fc_123", Name: "read_file", Arguments: `{"path":"x"}`}, hermes.ToolCall{ID: "call_abc|fc_456", Name: "terminal", Arguments: `{"command":"ls"}`}),
			handoffResult("call_abc|fc_123", "first result"), handoffResult("call_abc|fc_456", "second result"),
			handoffWords("A dot."),
			hermes.UserText("thanks"),
		},
		Says:    []string{"what is this?", "a recalled note", "first result", "second result", "A dot.", "thanks"},
		Foreign: []string{"responses-encrypted"},
	}
}

func fromChat() Handoff {
	return Handoff{
		Name: "chat", Protocol: "chat",
		Messages: []hermes.Message{
			hermes.UserText("read it"),
			handoffCalls("", []hermes.Reasoning{{Protocol: "chat", Text: "hm", Opaque: `{"type":"reasoning.encrypted","data":"chat-details"}`}},
				hermes.ToolCall{ID: "functions.read_file:0", Name: "read_file"}, hermes.ToolCall{ID: "chatcmpl-tool-" + strings.Repeat("0f", 40), Name: "terminal", Arguments: `{"command":"a < b && c"}`}),
			handoffResult("functions.read_file:0", ""), handoffResult("chatcmpl-tool-"+strings.Repeat("0f", 40), "listed"),
			handoffCalls("Once more.", []hermes.Reasoning{{Text: "unsigned thinking"}}, hermes.ToolCall{ID: "9", Name: "read_file", Arguments: `{}`}),
			handoffResult("9", "the end"),
		},
		Says:    []string{"read it", "listed", "Once more.", "the end"},
		Foreign: []string{"chat-details"},
	}
}

func fromGemini() Handoff {
	return Handoff{
		Name: "gemini", Protocol: "gemini",
		Messages: []hermes.Message{
			hermes.UserText("weather?"),
			handoffCalls("", []hermes.Reasoning{{Protocol: "gemini", Text: "where?", Signature: "gemini-text-signature"}},
				hermes.ToolCall{ID: "call_GENERATED1", Name: "read_file", Arguments: `{"path":"sky"}`, Signature: "gemini-call-signature"}, hermes.ToolCall{ID: "call_GENERATED2", Name: "read_file", Arguments: `{"path":"sea"}`}),
			handoffResult("call_GENERATED1", `{"sky":"blue"}`), handoffResult("call_GENERATED2", "[1,2]"),
			handoffWords("Blue."),
			hermes.UserText("sure?"),
		},
		Says:    []string{"weather?", "blue", "Blue.", "sure?"},
		Foreign: []string{"gemini-text-signature", "gemini-call-signature"},
	}
}

func fromOllama() Handoff {
	return Handoff{
		Name: "ollama", Protocol: "ollama",
		Messages: []hermes.Message{
			hermes.UserText("go"),
			handoffCalls("", []hermes.Reasoning{{Protocol: "ollama", Text: "I should read."}}, hermes.ToolCall{ID: "call_0", Name: "read_file", Arguments: `{"path":"1"}`}),
			handoffResult("call_0", "one"),
			handoffCalls("", nil, hermes.ToolCall{ID: "call_0", Name: "read_file", Arguments: `{"path":"2"}`}), // some servers start their ids again
			handoffResult("call_0", "two"),
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Text: "a notice"}}, Synthetic: true},
		},
		Says: []string{"go", "one", "two", "a notice"},
	}
}

func fromBedrock() Handoff {
	return Handoff{
		Name: "bedrock", Protocol: "bedrock",
		Messages: []hermes.Message{
			hermes.UserText("list"),
			handoffCalls("Sure.", []hermes.Reasoning{{Protocol: "bedrock", Text: "plan", Signature: "bedrock-signature"}, {Protocol: "bedrock", Opaque: "YmVkcm9jay1yZWRhY3RlZA=="}}, hermes.ToolCall{ID: "tooluse_AbC-1_2", Name: "terminal", Arguments: `{"command":"ls"}`}),
			handoffResult("tooluse_AbC-1_2", "a\nb"),
			handoffWords("Two."),
			hermes.UserText("more"),
		},
		Says:    []string{"list", "Sure.", "Two.", "more"},
		Foreign: []string{"bedrock-signature", "YmVkcm9jay1yZWRhY3RlZA=="},
	}
}

// brokenOff is a conversation with the remains of interruptions, crashes and
// faulty clients.
func brokenOff() Handoff {
	return Handoff{
		Name: "broken off", Protocol: "none",
		Messages: []hermes.Message{
			handoffWords("Hello, I begin."),
			hermes.UserText("first"),
			hermes.UserText("second"),
			handoffCalls("", nil, hermes.ToolCall{ID: "", Name: "read_file", Arguments: `{"path":`}),
			handoffResult("", "result of a call without id"),
			handoffResult("never_asked", "a stray result"),
			handoffCalls("", nil, hermes.ToolCall{ID: "open|1", Name: "read_file", Arguments: `{}`}),
			hermes.UserText("stop that"),
			{Role: hermes.RoleAssistant},
			{Role: hermes.RoleUser, Parts: []hermes.Part{{Image: &hermes.Image{URL: "https://example.org/a.jpg"}}}},
			{Role: hermes.RoleAssistant, Parts: []hermes.Part{{Text: " \n"}}, Reasoning: []hermes.Reasoning{{Text: "only thought"}}},
			{Role: hermes.RoleUser},
			hermes.UserText("last"),
		},
		Says: []string{"Hello, I begin.", "first", "second", "stop that", "example.org/a.jpg", "last"},
	}
}

// oddCalls is a conversation with ids that differ in one character that not every
// service takes, ids that come again, and arguments with half a surrogate pair.
func oddCalls() Handoff {
	call := func(id, arguments string) hermes.ToolCall {
		return hermes.ToolCall{ID: id, Name: "read_file", Arguments: arguments}
	}
	half := `{"path":"\ud83d","deep":{"\uDE00":["a\ud83d\ud83d\ude00z\\ud83d"]}}`
	return Handoff{
		Name: "odd calls", Protocol: "none",
		Messages: []hermes.Message{
			hermes.UserText("go on"),
			handoffCalls("", nil, call("a.b", `{"path":"1"}`), call("a_b", `{"path":"2"}`), call("a b", `{"path":"3"}`), call("a.b", `{"path":"4"}`)),
			handoffResult("a.b", "result 1"), handoffResult("a_b", "result 2"), handoffResult("a b", "result 3"), handoffResult("a.b", "result 4"),
			handoffCalls("", []hermes.Reasoning{{Protocol: "chat", Text: "x", Opaque: `{"type":"reasoning.text","text":"\ud83d"}`}}, call("a.b", half), call("a_b_2", "{}"), call("a_b", "{}")),
			handoffResult("a.b", "result 5"), handoffResult("a_b_2", "result 6"), handoffResult("a_b", "result 7"), handoffResult("a.b", "a stray one"),
			hermes.UserText("done?"),
		},
		Says: []string{"result 1", "result 2", "result 3", "result 4", "result 5", "result 6", "result 7", "done?", `\\ud83d`},
	}
}

// checkCalls refuses what services with strict readers refuse: two calls with one id,
// a result without its call or a call without its result, and half a surrogate pair.
func checkCalls(body []byte) error {
	var root any
	if err := json.Unmarshal(body, &root); err != nil {
		return err
	}
	texts := []string{string(body)}
	var calls, results []string
	walkJSON(root, func(m map[string]any) {
		id := func(of any, names ...string) string {
			o, _ := of.(map[string]any)
			for _, name := range names {
				if s, ok := o[name].(string); ok {
					return s
				}
			}
			return ""
		}
		for _, v := range m {
			if text, ok := v.(string); ok && json.Valid([]byte(text)) { // arguments
				texts = append(texts, text)
			}
		}
		switch {
		case m["type"] == "tool_use", m["type"] == "function" && m["id"] != nil, m["type"] == "function_call":
			calls = append(calls, id(m, "call_id", "id"))
		case m["toolUse"] != nil:
			calls = append(calls, id(m["toolUse"], "toolUseId"))
		case m["functionCall"] != nil:
			calls = append(calls, id(m["functionCall"], "id"))
		case m["function"] != nil && m["id"] != nil:
			calls = append(calls, id(m, "id"))
		case m["toolResult"] != nil:
			results = append(results, id(m["toolResult"], "toolUseId"))
		case m["functionResponse"] != nil:
			results = append(results, id(m["functionResponse"], "id"))
		case m["type"] == "tool_result", m["type"] == "function_call_output", m["role"] == "tool":
			results = append(results, id(m, "tool_use_id", "call_id", "tool_call_id"))
		}
	})
	if i := slices.IndexFunc(texts, halfPair); i >= 0 {
		return fmt.Errorf("half a surrogate pair in %s", texts[i])
	}
	calls = slices.DeleteFunc(calls, func(id string) bool { return id == "" }) // where a protocol may leave it out
	results = slices.DeleteFunc(results, func(id string) bool { return id == "" })
	slices.Sort(calls)
	slices.Sort(results)
	if !slices.Equal(calls, results) {
		return fmt.Errorf("the calls %q got the results %q", calls, results)
	}
	if len(slices.Compact(slices.Clone(calls))) < len(calls) {
		return fmt.Errorf("calls with one id: %q", calls)
	}
	return nil
}

// halfPair reports whether a JSON text has an escaped surrogate without its other half.
func halfPair(text string) bool {
	high := false // the last escape was the first half
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			if high {
				return true
			}
			continue
		}
		half := ""
		if i+6 <= len(text) && text[i+1] == 'u' {
			half = strings.ToLower(text[i+2 : i+4])
		}
		first, second := half >= "d8" && half <= "db", half >= "dc" && half <= "df"
		if high != second {
			return true
		}
		high = first
		if i++; half != "" {
			i += 4
		}
	}
	return high
}

func walkJSON(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walkJSON(v[name], visit)
		}
	case []any:
		for _, item := range v {
			walkJSON(item, visit)
		}
	}
}
