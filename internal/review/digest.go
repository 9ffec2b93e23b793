package review

import (
	"fmt"
	"strings"

	"hermes"
)

const (
	defaultInput = 12_000  // tokens
	mostInput    = 600_000 // however large the window is
	unknownInput = 120_000 // where the window is not known
	maxSaid      = 1_200   // characters of a message
	maxCall      = 300     // of a call
	maxFailure   = 400     // of a result that failed
	maxResult    = 120     // of one that did not
)

// Input is how many tokens of a conversation a model with this window reads,
// where so many are set: 0 is 12,000, which keeps reviews cheap. Three quarters
// of the window are the most.
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

// digest is what the reviewer reads: the end of the conversation, whole turns
// first, each message cut short, and what is remembered already.
func digest(t Conversation, known string, tokens int) string {
	if tokens <= 0 {
		tokens = defaultInput
	}
	r := 4 * tokens
	var lines []string
	for i := len(t.Transcript) - 1; i >= 0 && r > 0; i-- {
		text := describe(t.Transcript[i])
		if text == "" {
			continue
		}
		lines = append(lines, text)
		r -= len(text)
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
		b.WriteString("\n\nThe person asks you to look at this above all: " + t.Focus)
	}
	return b.String()
}

var plain = strings.NewReplacer("<work>", "", "</work>", "", "<remembered>", "", "</remembered>", "")

func describe(m hermes.Message) string {
	text := strings.TrimSpace(m.Visible())
	switch {
	case m.Role == hermes.RoleTool && m.Failed:
		return "  failed: " + cut(text, maxFailure)
	case m.Role == hermes.RoleTool:
		return "  result: " + cut(text, maxResult)
	case m.Role == hermes.RoleUser && m.Synthetic:
		return cut("Notice: "+text, maxSaid)
	case m.Role == hermes.RoleUser:
		return "Person: " + cut(text, maxSaid)
	}
	var parts []string
	if text != "" {
		parts = append(parts, "Agent: "+cut(text, maxSaid))
	}
	for _, c := range m.Calls {
		parts = append(parts, "  call: "+c.Name+" "+cut(c.Arguments, maxCall))
	}
	return strings.Join(parts, "\n")
}

func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "…"
}
