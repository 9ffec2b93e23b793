package contextengine

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"hermes"
)

// The frame of a summary in the transcript. Stored summaries are recognized by
// these texts: whoever changes one keeps the old wording below.
const (
	summaryHead   = "[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Go on from the messages below it.]"
	summaryEnd    = "[END OF SUMMARY]"
	requestsHead  = "## What the user asked for, word for word, oldest first"
	filesHead     = "## Files changed so far"
	openHead      = "[Your task list, kept because the conversation before this point was compressed]" // the todo tool looks for it
	withinNote    = "(Part of the work above was done for the user's newest message, which is outside this summary.)"
	maxPromptText = 400_000 // maximum bytes of transcript in a prompt
)

// Wordings of version 0.1.0, which stored summaries may still have.
const (
	requestsHead1 = "## What the person asked for, word for word, oldest first"
	withinNote1   = "(Part of what stands above was done for the newest message of the person, which has its place outside of this summary.)"
)

// instructions tell the model how to summarize.
//
//go:embed summary.md
var instructions string

// render returns a summary in its frame, with the anchors after it.
func render(a anchors, words string) string {
	var b strings.Builder
	b.WriteString(summaryHead + "\n\n" + strings.TrimSpace(words) + "\n")
	if a.within {
		b.WriteString("\n" + withinNote + "\n")
	}
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

// parsed is a stored summary split into its parts.
type parsed struct {
	words                 string
	requests, files, open []string
}

// Summary reports whether a part of a message is, or begins with, a summary of
// earlier turns.
func Summary(m hermes.Message, p hermes.Part) bool {
	return m.Role != hermes.RoleTool && (m.Synthetic || p.Hidden) && strings.HasPrefix(p.Text, summaryHead)
}

// hasSummary reports whether a message is a summary, or has one before its own
// text. Text of a tool or the user never counts, even in the same form.
func hasSummary(m hermes.Message) bool {
	return len(m.Parts) > 0 && Summary(m, m.Parts[0])
}

// splitSummary returns the summary at the beginning of a message, and the
// visible text after it.
func splitSummary(m hermes.Message) (s parsed, rest string, ok bool) {
	if !hasSummary(m) {
		return parsed{}, "", false
	}
	text := m.Parts[0].Text
	body, _, _ := strings.Cut(text[len(summaryHead):], summaryEnd)
	if m.Parts = m.Parts[1:]; len(m.Parts) > 0 {
		rest = m.Visible()
	}
	body = strings.Replace(body, "\n"+requestsHead1+"\n", "\n"+requestsHead+"\n", 1)
	body = strings.Replace(body, "\n"+withinNote1+"\n", "\n"+withinNote+"\n", 1)
	s.words = strings.Replace(body, "\n"+withinNote+"\n", "", 1)
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
	s.open = slices.DeleteFunc(s.open, func(it string) bool { return it == moreItems })
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

// promptText returns how many bytes of transcript go into a prompt. The model
// that summarizes may have the window that is full.
func promptText(window int) int {
	if window <= 0 {
		window = defaultWindow
	}
	return min(2*window, maxPromptText)
}

// prompt returns the prompt for a summary, with at most so many bytes of the
// turns.
func prompt(middle []hermes.Message, a anchors, focus string, most int) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(instructions))
	if focus != "" {
		fmt.Fprintf(&b, "\n\nThe user asked to keep first of all what relates to: %s", focus)
	}
	if a.before != "" {
		b.WriteString("\n\n=== The summary so far: update it, keep what is still true ===\n" + a.before)
	}
	b.WriteString("\n\n=== The turns to summarize ===\n")
	b.WriteString(describeAll(middle, most))
	b.WriteString("\n=== End of the turns. Write the summary now. ===")
	return b.String()
}

// describeAll returns messages as text of at most about so many bytes. If not
// all fit, it keeps the newest and counts the others.
func describeAll(list []hermes.Message, most int) string {
	var texts []string
	for i, m := range slices.Backward(list) {
		if most < 200 {
			texts = append(texts, fmt.Sprintf("(%d earlier messages are left out.)\n", i+1))
			break
		}
		text := describe(m, min(6_000, most))
		texts = append(texts, text)
		most -= len(text)
	}
	slices.Reverse(texts)
	return strings.Join(texts, "")
}

func describe(m hermes.Message, limit int) string {
	text := m.Text()
	if _, rest, ok := splitSummary(m); ok {
		text = rest
	}
	var b strings.Builder
	if text != "" {
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

// clean removes what models put around a summary.
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
	for _, frame := range []string{summaryHead, summaryEnd, requestsHead, filesHead, openHead, withinNote, requestsHead1, withinNote1} {
		text = strings.ReplaceAll(text, frame, "") // only render writes the frame
	}
	return strings.TrimSpace(text)
}
