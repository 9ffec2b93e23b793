package review

import (
	"fmt"
	"strings"

	"hermes"
	"hermes/internal/text"
)

const (
	defaultInput = 12_000  // tokens
	mostInput    = 600_000 // for any window
	unknownInput = 120_000 // for an unknown window
	maxSaid      = 1_200   // characters of a message
	maxCall      = 300     // of a call
	maxFailure   = 400     // of a failed result
	maxResult    = 120     // of any other result
)

// Input returns how many tokens of a conversation a review reads. set is the
// configured number; 0 means 12,000, which keeps reviews cheap. window is the
// model's context length; the result is at most three quarters of it.
func Input(set, window int) int {
	most := unknownInput
	if window > 0 {
		most = min(window/4*3, mostInput)
	}
	if set <= 0 {
		set = defaultInput
	}
	return min(set, most)
}

// digest returns what the reviewer reads: the end of the conversation with
// each message shortened, and what memory has already.
func digest(t Conversation, left []string, known string, tokens int) string {
	if tokens <= 0 {
		tokens = defaultInput
	}
	r := 4 * tokens
	var lines []string // the last first
	add := func(text string) bool {
		if text != "" {
			lines = append(lines, text)
			r -= len(text)
		}
		return r > 0
	}
	for i := len(t.Transcript) - 1; i >= 0 && add(describe(t.Transcript[i])); i-- {
	}
	for i := len(left) - 1; i >= 0 && r > 0 && add(left[i]); i-- {
	}
	var b strings.Builder
	if known = strings.TrimSpace(known); known != "" {
		fmt.Fprintf(&b, "<remembered>\n%s\n</remembered>\n\n", known)
	}
	b.WriteString("<work>\n")
	for i := len(lines) - 1; i >= 0; i-- {
		b.WriteString(plain.Replace(lines[i]) + "\n")
	}
	b.WriteString("</work>")
	if t.Focus != "" {
		b.WriteString("\n\nThe user asks you to look at this first: " + t.Focus)
	}
	return b.String()
}

var plain = strings.NewReplacer("<work>", "", "</work>", "", "<remembered>", "", "</remembered>", "")

func describe(m hermes.Message) string {
	said := strings.TrimSpace(m.Visible())
	switch {
	case m.Role == hermes.RoleTool && m.Failed:
		return "  failed: " + text.Short(said, maxFailure)
	case m.Role == hermes.RoleTool:
		return "  result: " + text.Short(said, maxResult)
	case m.Role == hermes.RoleUser && m.Synthetic:
		return text.Short("Notice: "+said, maxSaid)
	case m.Role == hermes.RoleUser:
		return "User: " + text.Short(said, maxSaid)
	}
	var parts []string
	if said != "" {
		parts = append(parts, "Agent: "+text.Short(said, maxSaid))
	}
	for _, c := range m.Calls {
		c = c.Forwarded()
		parts = append(parts, "  call: "+c.Name+" "+text.Short(c.Arguments, maxCall))
	}
	return strings.Join(parts, "\n")
}
