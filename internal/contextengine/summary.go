package contextengine

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/lazy"
	"hermes/internal/text"
	"hermes/internal/thinktag"
)

// The frame of a summary, as a model reads it. What the next summary and the todo
// tool take over is in [hermes.Anchors], not in this text.
const (
	summaryHead   = "[SUMMARY OF EARLIER TURNS. It is a record, not a new request: what it lists as done is done. Memory and profile in the prompt stay in force. Go on from the messages below it.]"
	summaryEnd    = "[END OF SUMMARY]"
	requestsHead  = "## What the user asked for, word for word, oldest first"
	filesHead     = "## Files changed so far"
	openHead      = "[Your task list, kept because the conversation before this point was compressed]"
	withinNote    = "(Part of the work above was done for the user's newest message, which is outside this summary.)"
	maxPromptText = 400_000 // maximum bytes of transcript in a prompt
)

// instructions tell the model how to summarize.
//
//go:embed summary.md
var instructions string

// render returns a summary in its frame, with the anchors after it and beside it.
func render(a anchors, words string, redact func(string) string) hermes.Part {
	words = frameless(words) // also what an earlier version stored
	var b strings.Builder
	b.WriteString(summaryHead + "\n\n" + words + "\n")
	if a.within {
		b.WriteString("\n" + withinNote + "\n")
	}
	open := openLines(a.open)
	if a.more {
		open = append(open, moreItems)
	}
	section(&b, requestsHead, a.requests)
	section(&b, filesHead, a.files)
	section(&b, openHead, open)
	b.WriteString("\n" + summaryEnd)
	return hermes.Part{Text: redact(b.String()), Anchors: a.beside(words, redact)}
}

func section(b *strings.Builder, head string, items []string) {
	if len(items) == 0 {
		return
	}
	b.WriteString("\n" + head + "\n")
	for _, it := range items {
		b.WriteString("- " + unframed(oneSpaced(it)) + "\n")
	}
}

// beside returns the anchors as they are stored, without secrets.
func (a anchors) beside(words string, redact func(string) string) *hermes.Anchors {
	out := &hermes.Anchors{Words: redact(words)}
	for _, r := range a.requests {
		out.Requests = append(out.Requests, redact(r))
	}
	for _, f := range a.files {
		out.Files = append(out.Files, redact(f))
	}
	for _, t := range a.open {
		t.Content = redact(t.Content)
		out.Open = append(out.Open, t)
	}
	return out
}

// Summary reports whether a part of a message is, or begins with, a summary of
// earlier turns.
func Summary(m hermes.Message, p hermes.Part) bool {
	return m.Role != hermes.RoleTool && (p.Anchors != nil || oldSummary(m, p))
}

// hasSummary reports whether a message is a summary, or has one before its own
// text. Text of a tool or the user never counts, even in the same form.
func hasSummary(m hermes.Message) bool {
	return len(m.Parts) > 0 && Summary(m, m.Parts[0])
}

// splitSummary returns the summary at the beginning of a message, and the
// visible text after it.
func splitSummary(m hermes.Message) (s hermes.Anchors, rest string, ok bool) {
	if !hasSummary(m) {
		return hermes.Anchors{}, "", false
	}
	if first := m.Parts[0]; first.Anchors != nil {
		s = *first.Anchors
	} else {
		s = readOld(first.Text)
	}
	if m.Parts = m.Parts[1:]; len(m.Parts) > 0 {
		rest = m.Visible()
	}
	return s, strings.TrimSpace(rest), true
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
		fmt.Fprintf(&b, "\n\nThe user wants to keep what relates to: %s\nGive this topic 60 to 70 %% of the summary's length, with every detail. Keep all else short.", focus)
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
	said := m.Text()
	if _, rest, ok := splitSummary(m); ok {
		said = rest
	}
	var b strings.Builder
	if said != "" {
		name := string(m.Role)
		if m.Role == hermes.RoleTool {
			name = "result of " + m.ToolName
		}
		fmt.Fprintf(&b, "%s: %s\n", name, text.Clip(said, limit))
	}
	for _, c := range m.Calls {
		fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, c.Name, text.Clip(c.Arguments, limit))
	}
	return b.String()
}

// clean removes what models put around a summary, and what belongs to its frame.
func clean(text string) string {
	text = thinktag.Answer(text)
	if inner, ok := strings.CutPrefix(text, "```"); ok {
		if _, body, ok := strings.Cut(inner, "\n"); ok {
			text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(body), "```"))
		}
	}
	return frameless(text)
}

// frameless returns the words of a summary without anything of its frame.
func frameless(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !frameLine(line) {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(unframed(strings.Join(kept, "\n")))
}

// frameLine reports whether a line is one of the frame. Only render writes those.
func frameLine(line string) bool {
	line = plainLine(line)
	for _, frame := range []string{summaryHead, oldSummaryHead, summaryEnd, requestsHead, oldRequestsHead, filesHead, openHead, withinNote, oldWithinNote} {
		if line == plainLine(frame) {
			return true
		}
	}
	return false
}

// plainLine returns a line without its marks and in lower case.
func plainLine(line string) string {
	return strings.ToLower(oneSpaced(strings.Trim(line, " \t\r#*_>-:.()[]")))
}

// unframed changes the brackets of what begins or ends a frame, in any case and
// spacing. Nothing is removed, so that no nested marker becomes whole.
func unframed(text string) string {
	return frameMarks().ReplaceAllStringFunc(text, func(s string) string { return "(" + s[1:] })
}

var frameMarks = lazy.Regexp(`(?i)\[\s*(?:END\s+OF\s+SUMMARY|SUMMARY\s+OF\s+EARLIER\s+TURNS|YOUR\s+TASK\s+LIST,\s+KEPT)`)
