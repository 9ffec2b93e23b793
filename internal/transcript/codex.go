package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"hermes"
)

// codexLine is a line of a Codex rollout file.
type codexLine struct {
	Type    string    `json:"type"`
	Time    time.Time `json:"timestamp"`
	Payload struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Dir       string          `json:"cwd"`
		Role      string          `json:"role"`
		Content   json.RawMessage `json:"content"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		CallID    string          `json:"call_id"`
		Output    json.RawMessage `json:"output"`
		Git       struct {
			Branch string `json:"branch"`
		} `json:"git"`
	} `json:"payload"`
}

func (b *builder) codex(raw []byte) bool {
	var l codexLine
	if json.Unmarshal(raw, &l) != nil {
		return false
	}
	p := l.Payload
	switch {
	case l.Type == "session_meta":
		b.out.Origin, b.out.Session.Dir, b.out.Session.Branch = p.ID, p.Dir, p.Git.Branch
		return true
	case l.Type != "response_item":
		return true
	}
	switch p.Type {
	case "message":
		text := plain(p.Content)
		switch p.Role {
		case "user":
			if !machine(text) {
				b.say(hermes.RoleUser, text, l.Time)
			}
		case "assistant":
			b.say(hermes.RoleAssistant, text, l.Time)
		}
	case "function_call":
		b.call(p.CallID, p.Name, p.Arguments, l.Time)
	case "custom_tool_call", "local_shell_call":
		b.call(p.CallID, p.Name, p.Input, l.Time)
	case "function_call_output", "custom_tool_call_output":
		b.result(p.CallID, output(p.Output), false, l.Time)
	}
	return true
}

// machine reports whether a user message was written by the program.
func machine(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "<environment_context>") || strings.HasPrefix(t, "<user_instructions>") || strings.HasPrefix(t, "<permissions")
}

// output returns the text of a result: a string, which may itself be JSON with
// an output field, or such an object.
func output(raw json.RawMessage) string {
	text := plain(raw)
	var o struct {
		Output *string `json:"output"`
	}
	if json.Unmarshal([]byte(text), &o) == nil && o.Output != nil {
		return *o.Output
	}
	return text
}
