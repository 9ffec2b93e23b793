package archive

import (
	"encoding/json"
	"io"
	"strings"

	"hermes"
)

// trajectory is a session in the ShareGPT format, for training.
type trajectory struct {
	Conversations []turn `json:"conversations"`
	Timestamp     string `json:"timestamp"`
	Model         string `json:"model"`
	Completed     bool   `json:"completed"`
}

type turn struct {
	From  string `json:"from"` // system, human, gpt or tool
	Value string `json:"value"`
}

// writeTrajectory writes a session as one line. Every turn of the model begins
// with its thinking, which may be empty. The tool results for one message are one
// turn.
func writeTrajectory(w io.Writer, d Document) error {
	t := trajectory{
		Timestamp: d.Session.Started.Format("2006-01-02T15:04:05"), Model: d.Session.Model,
		Conversations: []turn{}, Completed: ends(d.Messages),
	}
	if d.Session.System != "" {
		t.Conversations = append(t.Conversations, turn{"system", d.Session.System})
	}
	for _, m := range d.Messages {
		next := spokenIn(m)
		if n := len(t.Conversations); n > 0 && next.From == t.Conversations[n-1].From && next.From != "gpt" {
			t.Conversations[n-1].Value += "\n" + next.Value
			continue
		}
		t.Conversations = append(t.Conversations, next)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(t)
}

// ends reports whether a conversation ends with an answer.
func ends(list []hermes.Message) bool {
	n := len(list)
	return n > 0 && list[n-1].Role == hermes.RoleAssistant && len(list[n-1].Calls) == 0
}

func spokenIn(m hermes.Message) turn {
	switch m.Role {
	case hermes.RoleAssistant:
		return turn{"gpt", answered(m)}
	case hermes.RoleTool:
		return turn{"tool", tagged("tool_response", map[string]any{"tool_call_id": m.CallID, "name": m.ToolName, "content": m.Text()})}
	}
	return turn{"human", m.Text()} // including recalled memory, since the model read it
}

// answered formats a message of the model: thinking, text, calls.
func answered(m hermes.Message) string {
	var thoughts []string
	for _, r := range m.Reasoning {
		if text := strings.TrimSpace(r.Text); text != "" {
			thoughts = append(thoughts, text)
		}
	}
	parts := []string{"<think>\n" + strings.Join(thoughts, "\n\n") + "\n</think>"}
	if len(thoughts) == 0 {
		parts[0] = "<think>\n</think>"
	}
	if text := m.Text(); text != "" {
		parts = append(parts, text)
	}
	for _, c := range m.Calls {
		arguments := json.RawMessage(c.Arguments)
		if !json.Valid(arguments) {
			arguments, _ = json.Marshal(c.Arguments) // a string always marshals
		}
		parts = append(parts, tagged("tool_call", map[string]any{"name": c.Name, "arguments": arguments}))
	}
	return strings.Join(parts, "\n")
}

func tagged(tag string, value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return "" // texts and valid JSON always encode
	}
	return "<" + tag + ">\n" + unescaped(b.String()) + "</" + tag + ">"
}
