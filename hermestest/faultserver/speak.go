package faultserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// protocol is a protocol that the server speaks.
type protocol int

const (
	chat protocol = iota
	messages
)

func protocolOf(path string) protocol {
	if strings.HasSuffix(path, "/messages") {
		return messages
	}
	return chat
}

// exchange is one request and its answer.
type exchange struct {
	*Server
	ctx      context.Context
	w        http.ResponseWriter
	request  []byte
	answer   Answer
	protocol protocol
}

// answerWhole answers without a fault.
func (e *exchange) answerWhole() {
	if e.events(e.spell()...) {
		e.countUsage(e.answer.Input, e.answer.Output, true)
	}
}

// events writes a stream of events. It returns false if the client has gone.
func (e *exchange) events(list ...string) bool {
	e.w.Header().Set("Content-Type", "text/event-stream")
	for _, ev := range list {
		if _, err := io.WriteString(e.w, "data: "+ev+"\n\n"); err != nil {
			return false
		}
	}
	return http.NewResponseController(e.w).Flush() == nil
}

// abort breaks the connection within the answer.
func (e *exchange) abort() {
	_ = http.NewResponseController(e.w).Flush() // the client may have gone
	panic(http.ErrAbortHandler)
}

// refuse answers with a status and an error in the protocol's form.
func (e *exchange) refuse(status int, kind, code, message string) {
	e.w.Header().Set("Content-Type", "application/json")
	e.w.WriteHeader(status)
	_, _ = io.WriteString(e.w, e.failure(kind, code, message)) // the client may have gone
}

func (e *exchange) failure(kind, code, message string) string {
	inner := map[string]any{"type": kind, "message": message}
	if code != "" {
		inner["code"] = code
	}
	if e.protocol == messages {
		return spell(map[string]any{"type": "error", "error": inner})
	}
	return spell(map[string]any{"error": inner})
}

// spell returns the whole answer as events of the protocol.
func (e *exchange) spell() []string {
	if e.protocol == messages {
		return e.spellMessages()
	}
	return e.spellChat()
}

// begin returns the events up to the middle of the text, or of the first call.
func (e *exchange) begin(inCall bool) []string {
	if inCall && len(e.answer.Calls) == 0 {
		e.answer.Calls = []Call{{ID: "call_cut", Name: "look", Arguments: `{"at":"a place with a long name"}`}}
	}
	if !inCall {
		e.answer.Calls = nil
		e.answer.Text = strings.Repeat("word ", 8)
	}
	all := e.spell()
	var begun []string
	for _, ev := range all {
		last := strings.Contains(ev, "finish_reason\":\"") || strings.Contains(ev, `"content_block_stop"`) && inCall && strings.Contains(ev, `"index":1`)
		if last || !inCall && strings.Contains(ev, `"content_block_stop"`) {
			break
		}
		begun = append(begun, ev)
	}
	return begun[:max(1, len(begun)-1)] // the last piece is missing
}

func (e *exchange) spellChat() []string {
	choice := func(delta map[string]any, finish any) string {
		return spell(map[string]any{"id": "x", "object": "chat.completion.chunk", "choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	list := []string{choice(map[string]any{"role": "assistant", "content": ""}, nil)}
	for _, piece := range pieces(e.answer.Text) {
		list = append(list, choice(map[string]any{"content": piece}, nil))
	}
	for i, c := range e.answer.Calls {
		half := len(c.Arguments) / 2
		call := func(id, name, arguments string) string {
			return choice(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}}}, nil)
		}
		list = append(list, call(c.ID, c.Name, c.Arguments[:half]), call("", "", c.Arguments[half:]))
	}
	finish := "stop"
	if len(e.answer.Calls) > 0 {
		finish = "tool_calls"
	}
	usage := spell(map[string]any{"choices": []any{}, "usage": map[string]any{"prompt_tokens": e.answer.Input, "completion_tokens": e.answer.Output}})
	return append(list, choice(map[string]any{}, finish), usage, "[DONE]")
}

func (e *exchange) spellMessages() []string {
	list := []string{spell(map[string]any{"type": "message_start", "message": map[string]any{"usage": map[string]any{"input_tokens": e.answer.Input, "output_tokens": 0}}})}
	block := func(i int, begin map[string]any, deltas ...map[string]any) {
		list = append(list, spell(map[string]any{"type": "content_block_start", "index": i, "content_block": begin}))
		for _, d := range deltas {
			list = append(list, spell(map[string]any{"type": "content_block_delta", "index": i, "delta": d}))
		}
		list = append(list, spell(map[string]any{"type": "content_block_stop", "index": i}))
	}
	var deltas []map[string]any
	for _, piece := range pieces(e.answer.Text) {
		deltas = append(deltas, map[string]any{"type": "text_delta", "text": piece})
	}
	block(0, map[string]any{"type": "text", "text": ""}, deltas...)
	for i, c := range e.answer.Calls {
		half := len(c.Arguments) / 2
		block(i+1, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}},
			map[string]any{"type": "input_json_delta", "partial_json": c.Arguments[:half]}, map[string]any{"type": "input_json_delta", "partial_json": c.Arguments[half:]})
	}
	stop := "end_turn"
	if len(e.answer.Calls) > 0 {
		stop = "tool_use"
	}
	return append(list,
		spell(map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": e.answer.Output}}),
		spell(map[string]any{"type": "message_stop"}))
}

// pieces splits text as a stream does.
func pieces(text string) []string {
	const size = 12
	var out []string
	for len(text) > size {
		out, text = append(out, text[:size]), text[size:]
	}
	return append(out, text)
}

func spell(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%q", err.Error()) // the values here always have a JSON form
	}
	return string(raw)
}
