package prefixwatch

import (
	"strings"

	"hermes"
)

// flat returns all that is sent of a message as one text.
func flat(m *hermes.Message) string {
	var b strings.Builder
	b.WriteString(m.CallID)
	for _, r := range m.Reasoning {
		b.WriteString(r.Text)
		b.WriteString(r.Signature)
		b.WriteString(r.Opaque)
		b.WriteString(r.ID)
	}
	for _, p := range m.Parts {
		b.WriteString(p.Text)
		if p.Image != nil {
			b.WriteString(p.Image.URL)
			b.Write(p.Image.Data)
		}
	}
	for _, c := range m.Calls {
		b.WriteString(c.ID)
		b.WriteString(c.Name)
		b.WriteString(c.Arguments)
		b.WriteString(c.Signature)
	}
	if m.Failed {
		b.WriteString("failed")
	}
	return b.String()
}

func flatTool(t hermes.Spec) string { return t.Name + t.Description + string(t.Schema) }

func toolsLength(r *hermes.Request) int {
	n := 0
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// length returns the size of a whole request in bytes.
func length(r *hermes.Request) int {
	n := toolsLength(r) + len(r.System)
	for i := range r.Messages {
		n += len(flat(&r.Messages[i]))
	}
	return n
}

func kind(r hermes.Role) string {
	switch r {
	case hermes.RoleUser:
		return "user"
	case hermes.RoleAssistant:
		return "answer"
	case hermes.RoleTool:
		return "tool result"
	}
	return string(r)
}
