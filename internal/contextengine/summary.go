package contextengine

import (
	_ "embed"
	"fmt"
	"strings"

	"hermes"
)

// The frame of a summary in the transcript.
const (
	summaryHead   = "[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Go on from the messages below it.]"
	summaryEnd    = "[END OF SUMMARY]"
	requestsHead  = "## What the person asked for, word for word, oldest first"
	filesHead     = "## Files changed so far"
	openHead      = "## Open items of the plan"
	maxPromptText = 400_000 // bytes of transcript that a summary is made from
)

// instructions tell the model how to sum up.
//
//go:embed summary.md
var instructions string

// render puts a summary into its frame, with the anchors under it.
func render(a anchors, words string) string {
	var b strings.Builder
	b.WriteString(summaryHead + "\n\n" + strings.TrimSpace(words) + "\n")
	section(&b, requestsHead, a.requests)
	section(&b, filesHead, a.files)
	section(&b, openHead, a.open)
	b.WriteString("\n" + summaryEnd)
	return b.String()
}

func section(b *strings.Builder, head string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n" + head + "\n")
	for _, it := range items {
		b.WriteString("- " + it + "\n")
	}
}

// parsed is a summary read back.
type parsed struct {
	words                 string
	requests, files, open []string
}

// splitSummary finds a summary at the beginning of a message, and the text
// that follows it.
func splitSummary(m hermes.Message) (s parsed, rest string, ok bool) {
	text := m.Text()
	if !strings.HasPrefix(text, summaryHead) {
		return parsed{}, "", false
	}
	body, rest, _ := strings.Cut(text[len(summaryHead):], summaryEnd)
	s.words = body
	for _, part := range []struct {
		head string
		into *[]string
	}{{openHead, &s.open}, {filesHead, &s.files}, {requestsHead, &s.requests}} {
		var list string
		if s.words, list, ok = strings.Cut(s.words, "\n"+part.head+"\n"); ok {
			*part.into = items(list)
		}
	}
	s.words = strings.TrimSpace(s.words)
	return s, strings.TrimSpace(rest), true
}

func items(list string) []string {
	var out []string
	for line := range strings.Lines(list) {
		if it, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "- "); ok {
			out = append(out, it)
		}
	}
	return out
}

// prompt is what the model reads to sum up.
func prompt(middle []hermes.Message, a anchors, focus string) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructions))
	if focus != "" {
		fmt.Fprintf(&b, "\n\nThe person asked to keep above all what has to do with: %s", focus)
	}
	if a.before != "" {
		b.WriteString("\n\n=== The summary so far: bring it up to date, keep what still holds ===\n" + a.before)
	}
	b.WriteString("\n\n=== The turns to sum up ===\n")
	b.WriteString(tellAll(middle))
	b.WriteString("\n=== End of the turns. Write the summary now. ===")
	return b.String()
}

// tellAll writes messages as text, within its bound: the newest are whole,
// the oldest are cut first.
func tellAll(list []hermes.Message) string {
	told := make([]string, len(list))
	left := maxPromptText
	for i := len(list) - 1; i >= 0; i-- {
		told[i] = tell(list[i], min(6_000, left))
		left = max(left-len(told[i]), 200)
	}
	return strings.Join(told, "")
}

func tell(m hermes.Message, limit int) string {
	if _, rest, ok := splitSummary(m); ok {
		if rest == "" {
			return ""
		}
		return fmt.Sprintf("%s: %s\n", m.Role, clip(rest, limit))
	}
	var b strings.Builder
	if text := m.Text(); text != "" {
		name := string(m.Role)
		if m.Role == hermes.RoleTool {
			name = "result of " + m.ToolName
		}
		fmt.Fprintf(&b, "%s: %s\n", name, clip(text, limit))
	}
	for _, c := range m.Calls {
		fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, c.Name, clip(c.Arguments, limit))
	}
	return b.String()
}

// clean takes away what models put round a summary.
func clean(text string) string {
	text = strings.TrimSpace(text)
	if _, after, ok := strings.Cut(text, "</think>"); ok {
		text = strings.TrimSpace(after)
	}
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if _, body, ok := strings.Cut(inner, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
		}
	}
	text = strings.ReplaceAll(text, summaryEnd, "")
	return strings.TrimSpace(strings.TrimPrefix(text, summaryHead))
}
