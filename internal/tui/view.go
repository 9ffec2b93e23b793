package tui

import (
	"fmt"
	"strings"
	"time"

	"hermes"
	"hermes/internal/markup"
	"hermes/internal/text"
)

// Limits of the live region. The unfinished end of the answer takes less than
// half of the terminal. When the terminal becomes narrower, rows wrap, and rows
// that no longer fit would scroll into the scrollback and stay there.
const (
	maxWaitingRows = 3
	maxCallRows    = 8
)

// spinner turns once a second.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// view is the frame of the live region.
func (m *model) view() frame {
	width := m.cols()
	typed, row, col := []string{""}, -1, 0
	if !m.hidesInput() {
		secret := m.ask() != nil && m.ask().typing && m.ask().question.Secret
		typed, row, col = m.input.Rows(m.theme, width, secret)
	}
	below := m.belowRows(width)
	above := m.aboveRows(width)
	limit := min(m.height-1-len(typed)-len(below)-len(above), (m.height-6)/2+1)
	tail := m.tailRows(width, limit)
	var rows []string
	rows = append(rows, tail...)
	inList := len(tail) == 0 && m.lastCall != "" && len(m.calls) > 0
	if (len(tail) > 0 || m.needBlank) && !inList {
		above = append([]string{""}, above...)
	}
	if over := len(rows) + len(above) + len(typed) + len(below) - (m.height - 1); over > 0 {
		rows = rows[min(over, len(rows)):]
	}
	rows = append(rows, above...)
	at := len(rows) + row
	rows = append(append(rows, typed...), below...)
	for i := range rows {
		rows[i] = markup.Clip(rows[i], width)
	}
	if over := len(rows) - max(m.height-1, 1); over > 0 {
		rows, at = rows[over:], at-over
	}
	return frame{rows: rows, row: at, col: col}
}

// tailRows is the unfinished end of the answer, at most limit-1 rows of it.
func (m *model) tailRows(width, limit int) []string {
	var rows []string
	for _, line := range m.tail() {
		rows = append(rows, markup.Fold(line, width)...)
	}
	return rows[max(len(rows)-max(limit-1, 0), 0):]
}

// aboveRows are the rows between the answer and the input: running calls, what
// the agent is doing, waiting messages and the open question.
func (m *model) aboveRows(width int) []string {
	var rows []string
	for i, c := range m.calls {
		if i == maxCallRows {
			rows = append(rows, m.Faint(fmt.Sprintf("  and %d more", len(m.calls)-i)))
			break
		}
		rows = append(rows, m.callLine(c.call.Name, c.preview, took(m.now().Sub(c.since).Truncate(time.Second)), "", width))
		if c.progress != "" {
			rows = append(rows, m.Faint(markup.Clip("  "+markup.OneLine(lastLine(c.progress)), width)))
		}
	}
	if m.turn.busy && m.ask() == nil {
		rows = append(rows, markup.Clip(m.activity(), width))
	}
	rows = append(rows, m.waitingRows(width)...)
	if a := m.ask(); a != nil {
		if a.question != nil && len(m.asks) > 1 {
			rows = append(rows, m.Faint(fmt.Sprintf("  %d more to answer after this", len(m.asks)-1)))
		}
		rows = append(rows, a.rows(m.theme, width, m.input.Answer())...)
	}
	return rows
}

func (m *model) waitingRows(width int) []string {
	var rows []string
	others := m.conv.others(m.self)
	texts := m.conv.texts()
	for _, q := range others {
		texts = append(texts, q.Text+" · "+q.From.String())
	}
	for i, text := range texts {
		if i == maxWaitingRows {
			rows = append(rows, m.Faint(fmt.Sprintf("  and %d more", len(texts)-i)))
			break
		}
		mark := "  next: "
		if !m.turn.busy {
			mark = "  "
		}
		rows = append(rows, m.Faint(markup.Clip(mark+markup.OneLine(text), width)))
	}
	if more := len(m.conv.queue) - len(texts); m.turn.busy && more > 0 {
		rows = append(rows, m.Faint(fmt.Sprintf("  %d queued", more)))
	}
	return rows
}

// activity is the line with the spinner: what the agent does, for how long, and
// how many tokens it has used.
func (m *model) activity() string {
	what := "working"
	switch {
	case m.conv.lost:
		what = "waiting for the session"
	case m.turn.stopping:
		what = "stopping"
	case m.step.writing.Name != "":
		what = "writing " + m.step.writing.Name
		if m.step.writing.Bytes >= 1024 {
			what += fmt.Sprintf(" (%d KB)", m.step.writing.Bytes/1024)
		}
	case len(m.calls) > 0:
		what = "running " + text.Plural(len(m.calls), "tool", "tools")
	case m.step.thought:
		what = "thinking"
	}
	parts := []string{what, took(m.now().Sub(m.turn.began).Truncate(time.Second))}
	if strings.HasSuffix(parts[1], " ms") {
		parts[1] = "0 s"
	}
	parts[1] = strings.Replace(parts[1], ".0 s", " s", 1)
	if n := m.usage.Total() + int64(m.step.streamed/4); n > 0 {
		parts = append(parts, text.Tokens(n)+" tokens")
	}
	mark := spinner[m.turn.spin%len(spinner)]
	return m.Accent(mark) + " " + m.Faint(strings.Join(parts, " · "))
}

// hidesInput reports whether the question that is shown takes no text.
func (m *model) hidesInput() bool {
	a := m.ask()
	return !m.input.Searching() && a != nil && !a.typing && (a.approval == nil || m.input.Empty())
}

// belowRows are the menu or the status line.
func (m *model) belowRows(width int) []string {
	if rows := m.input.MenuRows(m.theme, width); rows != nil {
		return rows
	}
	text := m.status()
	switch {
	case m.leave.asked && m.turn.stopping:
		text = "Stopping. Press Ctrl+C again to quit."
	case m.leave.asked:
		text = "Press Ctrl+C again to quit."
	case m.input.Hint != "":
		text = m.input.Hint
	case m.input.Searching():
		text = "Enter to use it, Ctrl+R for an older one, Esc to close"
	case m.ask() != nil && m.ask().approval != nil:
		text = "Letter or arrow to choose, Enter to confirm, Esc to deny"
	case m.ask() != nil && m.ask().question != nil && len(m.ask().options) == 0:
		text = "Enter to answer, Esc to skip"
	}
	return []string{m.Faint(markup.Clip("  "+markup.OneLine(text), width))}
}

// status is the line below the input.
func (m *model) status() string {
	if !m.conv.opened {
		return "Opening the session…"
	}
	if m.conv.closed {
		return "The session has ended. Use /new to start another."
	}
	if m.conv.lost {
		return "Attaching to the session again…"
	}
	var parts []string
	if mode := m.conv.mode; mode != "" && mode != hermes.ModeAsk {
		parts = append(parts, string(mode)+" mode")
	}
	if m.model != "" {
		parts = append(parts, m.model)
	}
	if used := m.last.Prompt() + m.last.Output; used > 0 && m.conv.window > 0 {
		parts = append(parts, fmt.Sprintf("%d %% of context", used*100/int64(m.conv.window)))
	}
	if m.conv.title != "" {
		parts = append(parts, m.conv.title)
	}
	if m.turn.busy {
		return strings.Join(append(parts, "Ctrl+C to stop"), " · ")
	}
	return strings.Join(append(parts, "/help"), " · ")
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
