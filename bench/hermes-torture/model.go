package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"hermes/hermestest/faultserver"
)

// order is a prompt: the model runs that many commands one after another, each of which
// adds a line to effects.txt, and then says that the task is done. mark is unique.
func order(mark string, commands int) string { return fmt.Sprintf("order: %s %d", mark, commands) }

// done is the final text of an order.
func done(mark string) string { return "Done " + mark + "." }

// effect is the line that the command with this number adds to effects.txt.
func effect(mark string, number int) string { return fmt.Sprintf("%s-%d.", mark, number) }

// item is one message of a request, or one result in it, in either protocol.
type item struct {
	role   string // user, assistant or result
	text   string
	calls  []string // ids
	result string   // the id of the answered call
	raw    string
}

// content is a text, or a list of parts.
type content []struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`          // of tool_use
	ToolUseID string          `json:"tool_use_id"` // of tool_result
	Content   json.RawMessage `json:"content"`
}

func (c *content) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*c = content{{Type: "text", Text: text}}
		return nil
	}
	type list content
	return json.Unmarshal(raw, (*list)(c))
}

// items reads the messages of a request body.
func items(body []byte) ([]item, error) {
	var r struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, err
	}
	var all []item
	for _, raw := range r.Messages {
		var m struct {
			Role       string  `json:"role"`
			Content    content `json:"content"`
			ToolCallID string  `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return nil, err
		}
		it := item{role: m.Role, raw: string(raw)}
		for _, c := range m.ToolCalls {
			it.calls = append(it.calls, c.ID)
		}
		if m.Role == "tool" {
			it.role, it.result = "result", m.ToolCallID
		}
		for _, p := range m.Content {
			switch p.Type {
			case "text":
				it.text += p.Text
			case "tool_use":
				it.calls = append(it.calls, p.ID)
			case "tool_result":
				all = append(all, item{role: "result", result: p.ToolUseID, text: string(p.Content), raw: string(raw)})
			}
		}
		if m.Role == "user" && it.text == "" {
			continue // it held results only
		}
		if m.Role != "system" && m.Role != "developer" {
			all = append(all, it)
		}
	}
	return all, nil
}

// model decides what the service answers and records what it was asked.
type model struct {
	mu       sync.Mutex
	requests [][]item
	bodies   []string
	commands func(mark string, number int) string // nil: plain ones
	input    func(body []byte) int64              // nil: a quarter of the bytes
}

func (m *model) decide(body []byte) faultserver.Answer {
	all, err := items(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies = append(m.bodies, string(body))
	answer := faultserver.Answer{Text: "Hello.", Input: int64(len(body) / 4), Output: 9}
	if m.input != nil {
		answer.Input = m.input(body)
	}
	if err != nil {
		answer.Text = "unreadable request: " + err.Error()
		return answer
	}
	m.requests = append(m.requests, all)
	mark, commands, number := current(all)
	if mark == "" {
		return answer
	}
	answer.Text = done(mark)
	if number < commands {
		command := fmt.Sprintf("echo %s >> effects.txt; echo done-%s", effect(mark, number), effect(mark, number))
		if m.commands != nil {
			command = m.commands(mark, number)
		}
		arguments, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			return answer // a string always has a JSON form
		}
		answer.Text = ""
		answer.Calls = []faultserver.Call{{ID: fmt.Sprintf("call_%s_%d", mark, number), Name: "terminal", Arguments: string(arguments)}}
	}
	return answer
}

// current returns the last order and how many results it has so far.
func current(all []item) (mark string, commands, number int) {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].role == "result" {
			number++
		}
		if _, text, found := strings.Cut(all[i].text, "order: "); found && all[i].role == "user" {
			_, _ = fmt.Sscan(text, &mark, &commands) // what is missing stays zero
			return mark, commands, number
		}
	}
	return "", 0, 0
}

// take returns the requests since the last take.
func (m *model) take() [][]item {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.requests
	m.requests = nil
	return r
}
