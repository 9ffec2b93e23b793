package tui

import (
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/text"
)

func (t *renderer) turnStarted(e hermes.TurnStarted) {
	t.flush()
	t.usage, t.calls, t.lastCall, t.lastText = hermes.Usage{}, nil, "", ""
	if e.Message.Synthetic {
		text := e.Message.Visible()
		lines := t.block(text, t.width)
		t.say(lines...)
		return
	}
	lines := t.userLines(e.Message)
	if len(lines) > 0 && t.ofOther(e.From) {
		lines = append(lines, t.Faint(markup.Clip("  from "+markup.OneLine(e.From.String()), t.width)))
	}
	t.say(lines...)
}

// ofOther reports whether something came from another frontend.
func (t *renderer) ofOther(from hermes.From) bool { return from.Client != "" && from.Client != t.self }

// userLines shows a message of the user.
func (t *renderer) userLines(m hermes.Message) []string {
	text := m.Visible()
	for _, p := range m.Parts {
		if p.Image != nil {
			text += "\n[image]"
		}
	}
	return t.prefixed("› ", "  ", strings.TrimSpace(text))
}

// prefixed wraps a text of the user at the width, after a mark. Very long texts
// are cut; the session has them in full.
func (t *renderer) prefixed(first, rest, text string) []string {
	const most = 30
	var lines []string
	for raw := range strings.SplitSeq(strings.ReplaceAll(markup.Visible(text), "\t", "    "), "\n") {
		for _, row := range wrapKeeping(raw, max(min(t.width, maxProse)-2, 8)) {
			prefix := rest
			if len(lines) == 0 {
				prefix = t.Accent(first)
			}
			lines = append(lines, prefix+t.Strong(row))
		}
	}
	if more := len(lines) - most; more > 2 {
		lines = append(lines[:most], rest+t.Faint(fmt.Sprintf("… %d more lines", more)))
	}
	return lines
}

func (t *renderer) notice(e hermes.Notice) {
	if e.Level == hermes.NoticeWaiting {
		t.say(t.Faint(markup.Clip(markup.OneLine(e.Text), t.width*2)))
		return
	}
	var lines []string
	for _, l := range markup.Render(e.Text, markup.Options{Width: min(t.width, maxProse), Plain: true}) {
		if e.Level == hermes.NoticeWarning {
			l = t.Warn(l)
		} else {
			l = t.Faint(l)
		}
		lines = append(lines, l)
	}
	t.say(lines...)
}

// compacted says that the conversation was shortened.
func (t *renderer) compacted(e hermes.Compacted) {
	if e.Note == "" {
		return
	}
	t.flush()
	t.noted = strings.TrimSpace(e.Note)
	t.notice(hermes.Notice{Level: hermes.NoticeInfo, Text: e.Note})
}

func (t *renderer) turnDone(e hermes.TurnDone) {
	t.flush()
	t.calls = nil
	t.step.writing = hermes.CallDeltaSeen{}
	t.lastCall = ""
	if text := strings.TrimSpace(e.Text); text != "" && e.Outcome != hermes.OutcomeFailed && !strings.Contains(t.lastText, text) && text != t.noted {
		t.say(markup.Render(text, t.prose(t.width))...)
	}
	t.noted = ""
	switch e.Outcome {
	case hermes.OutcomeFailed:
		text := e.Text
		if e.Failure != nil {
			text = e.Err().Error()
		}
		t.say(t.errorLines(text)...)
	case hermes.OutcomeInterrupted:
		t.say(t.Warn("interrupted") + t.Faint(" after "+took(e.Duration)))
	default:
		// No summary for a turn without a model call that took no time, such as
		// a compression with nothing to do.
		if t.d.Summary && (e.Steps > 0 || e.Usage.Total() > 0 || e.Duration >= time.Second) {
			t.say(t.Faint(summary(e)))
		}
	}
}

// errorLines shows a failure in red, wrapped.
func (t *renderer) errorLines(text string) []string {
	var lines []string
	for _, raw := range strings.Split(markup.Visible(strings.TrimSpace(text)), "\n") {
		for _, l := range wrapPlain(raw, min(t.width, maxProse)) {
			lines = append(lines, t.Bad(l))
		}
	}
	return lines
}

func summary(e hermes.TurnDone) string {
	parts := []string{took(e.Duration)}
	if e.Steps > 1 {
		parts = append(parts, text.Plural(e.Steps, "step", "steps"))
	}
	if n := e.Usage.Total(); n > 0 {
		parts = append(parts, text.Tokens(n)+" tokens")
	}
	return strings.Join(parts, " · ")
}

// greet prints the greeting. Lines that are too long wrap between words.
func (m *model) greet(lines []string) {
	for _, l := range lines {
		if markup.Width(l) <= m.width {
			m.say(l)
			continue
		}
		m.say(wrapPlain(l, m.width)...)
	}
}

// wrapPlain wraps words without reading them as Markdown.
func wrapPlain(text string, width int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		w := markup.Width(word)
		if used > 0 && used+1+w > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += w
	}
	var rows []string
	for _, l := range append(lines, line) {
		rows = append(rows, markup.Fold(l, width)...)
	}
	return rows
}

// wrapKeeping wraps a line at spaces and keeps all other spaces, since pasted
// text may be code.
func wrapKeeping(line string, width int) []string {
	var rows []string
	for markup.Width(line) > width {
		used, end, cut := 0, 0, 0
		for end < len(line) {
			n, w := markup.Cluster(line[end:])
			if used+w > width {
				break
			}
			used += w
			end += n
			if line[end-1] == ' ' && used > width/3 {
				cut = end
			}
		}
		if end == 0 || end < len(line) && line[end] == ' ' {
			cut = max(end, 1)
		}
		if cut == 0 {
			cut = end
		}
		rows = append(rows, strings.TrimRight(line[:cut], " "))
		line = strings.TrimLeft(line[cut:], " ")
	}
	return append(rows, line)
}
