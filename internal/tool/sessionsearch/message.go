package sessionsearch

import (
	"time"

	"hermes"
	"hermes/internal/text"
)

// Bounds of the text shown of a message, in bytes.
const (
	shortText = 500
	longText  = 3000
)

// message is a stored message as the model sees it.
type message struct {
	ID    int64    `json:"id"`
	Role  string   `json:"role"`
	Text  string   `json:"text,omitempty"`
	Tool  string   `json:"tool,omitempty"`
	Calls []string `json:"calls,omitempty"`
}

// render returns the messages that are not empty, each cut at size bytes.
func render(list []hermes.Message, size int) []message {
	var out []message
	for _, m := range list {
		x := message{ID: m.ID, Role: string(m.Role), Text: text.Clip(m.Visible(), size), Tool: m.ToolName}
		if m.Role == hermes.RoleTool {
			x.Text = text.Clip(x.Text, shortText)
		}
		for _, c := range m.Calls {
			x.Calls = append(x.Calls, c.Name+" "+text.Clip(c.Arguments, 200))
		}
		if x.Text != "" || len(x.Calls) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// when formats a time for the model, with day, hour and minute.
func (t *Toolset) when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.In(t.now().Location()).Format("2006-01-02 15:04")
}
