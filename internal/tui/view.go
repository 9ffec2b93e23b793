package tui

import (
	"fmt"
	"strings"
	"time"

	"hermes/internal/markup"
	"hermes/internal/text"
)

// Limits of the live region. The unfinished end of the answer takes less than
// half of the terminal. When the terminal becomes narrower, rows wrap, and rows
// that no longer fit would scroll into the scrollback and stay there.
const (
	maxInputRows   = 12
	maxWaitingRows = 3
	maxCallRows    = 8
	inputMark      = "› "
)

// spinner turns once a second.
var spinner = [...]string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"}

// view is the frame of the live region.
func (m *model) view() frame {
	width := m.cols()
	input, row, col := m.inputRows(width)
	below := m.belowRows(width)
	above := m.aboveRows(width)
	limit := min(m.height-1-len(input)-len(below)-len(above), (m.height-6)/2+1)
	tail := m.tailRows(width, limit)
	var rows []string
	rows = append(rows, tail...)
	inList := len(tail) == 0 && m.lastCall != "" && len(m.calls) > 0
	if (len(tail) > 0 || m.needBlank) && !inList {
		above = append([]string{""}, above...)
	}
	if over := len(rows) + len(above) + len(input) + len(below) - (m.height - 1); over > 0 {
		rows = rows[min(over, len(rows)):]
	}
	rows = append(rows, above...)
	at := len(rows) + row
	rows = append(append(rows, input...), below...)
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
			rows = append(rows, m.faint(fmt.Sprintf("  and %d more", len(m.calls)-i)))
			break
		}
		rows = append(rows, m.callLine(c.call.Name, c.preview, took(m.now().Sub(c.since).Truncate(time.Second)), "", width))
		if c.progress != "" {
			rows = append(rows, m.faint(markup.Clip("  "+oneLine(lastLine(c.progress)), width)))
		}
	}
	if m.busy && m.ask() == nil {
		rows = append(rows, markup.Clip(m.activity(), width))
	}
	rows = append(rows, m.waitingRows(width)...)
	if a := m.ask(); a != nil {
		if a.question != nil && len(m.asks) > 1 {
			rows = append(rows, m.faint(fmt.Sprintf("  %d more to answer after this", len(m.asks)-1)))
		}
		rows = append(rows, a.rows(m.theme, width, m.answerText())...)
	}
	return rows
}

func (m *model) waitingRows(width int) []string {
	var rows []string
	for i, text := range m.waiting {
		if i == maxWaitingRows {
			rows = append(rows, m.faint(fmt.Sprintf("  and %d more", len(m.waiting)-i)))
			break
		}
		mark := "  next: "
		if !m.busy {
			mark = "  "
		}
		rows = append(rows, m.faint(markup.Clip(mark+oneLine(text), width)))
	}
	if more := m.queued - len(m.waiting); m.busy && more > 0 {
		rows = append(rows, m.faint(fmt.Sprintf("  %d queued", more)))
	}
	return rows
}

// activity is the line with the spinner: what the agent does, for how long, and
// how many tokens it has used.
func (m *model) activity() string {
	what := "working"
	switch {
	case m.stopping:
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
	parts := []string{what, took(m.now().Sub(m.began).Truncate(time.Second))}
	if strings.HasSuffix(parts[1], " ms") {
		parts[1] = "0 s"
	}
	parts[1] = strings.Replace(parts[1], ".0 s", " s", 1)
	if n := m.usage.Total() + int64(m.step.streamed/4); n > 0 {
		parts = append(parts, tokens(n)+" tokens")
	}
	mark := spinner[m.spin%len(spinner)]
	return m.accent(mark) + " " + m.faint(strings.Join(parts, " · "))
}

// inputWidth is the width of the input's text.
func (m *model) inputWidth() int { return max(m.cols()-markup.Width(inputMark), 4) }

// inputRows draw the input, or the search that replaces it, and return where
// the cursor is.
func (m *model) inputRows(width int) (rows []string, row, col int) {
	if f := m.find; f != nil {
		head := "search: " + f.text
		rows = []string{m.accent(markup.Clip(head, width))}
		if f.found != "" {
			rows = append(rows, m.faint(markup.Clip("  "+oneLine(f.found), width)))
		}
		return rows, 0, min(markup.Width(head), width-1)
	}
	if a := m.ask(); a != nil && !a.typing && (a.approval == nil || m.input.empty()) {
		return []string{""}, -1, 0
	}
	laid, row, col := m.input.layout(m.inputWidth())
	secret := m.ask() != nil && m.ask().typing && m.ask().question.Secret
	first := max(row-maxInputRows+1, 0)
	last := min(first+maxInputRows, len(laid))
	for i := first; i < last; i++ {
		var b strings.Builder
		mark := strings.Repeat(" ", markup.Width(inputMark))
		if i == 0 {
			mark = m.accent(inputMark)
		}
		b.WriteString(mark)
		for _, p := range laid[i].runes {
			if secret {
				b.WriteString(strings.Repeat("•", p.width))
				continue
			}
			if len(p.shown) > 7 && strings.HasPrefix(p.shown, "[paste ") {
				b.WriteString(m.faint(p.shown))
				continue
			}
			b.WriteString(p.shown)
		}
		rows = append(rows, b.String())
	}
	return rows, row - first, min(col+markup.Width(inputMark), width-1)
}

// belowRows are the menu or the status line.
func (m *model) belowRows(width int) []string {
	if m.menu.open() && m.find == nil {
		return m.menuLines(width)
	}
	text := m.status()
	switch {
	case m.quitting && m.stopping:
		text = "Stopping. Press Ctrl+C again to quit."
	case m.quitting:
		text = "Press Ctrl+C again to quit."
	case m.hint != "":
		text = m.hint
	case m.find != nil:
		text = "Enter to use it, Ctrl+R for an older one, Esc to close"
	case m.ask() != nil && m.ask().approval != nil:
		text = "Letter or arrow to choose, Enter to confirm, Esc to deny"
	case m.ask() != nil && m.ask().question != nil && len(m.ask().options) == 0:
		text = "Enter to answer, Esc to skip"
	}
	return []string{m.faint(markup.Clip("  "+oneLine(text), width))}
}

func (m *model) menuLines(width int) []string {
	list := m.menu.choices
	first := min(max(m.menu.at-menuRows/2, 0), max(len(list)-menuRows, 0))
	last := min(first+menuRows, len(list))
	wide := 0
	for _, c := range list[first:last] {
		wide = max(wide, markup.Width(c.label))
	}
	wide = min(wide, width*2/3)
	var rows []string
	for i := first; i < last; i++ {
		c := list[i]
		label := markup.Clip(oneLine(c.label), wide)
		fill := strings.Repeat(" ", max(wide-markup.Width(label), 0))
		help := markup.Clip(c.help, max(width-wide-6, 0))
		mark := "  "
		if i == m.menu.at {
			mark = m.accent("› ")
			label = m.strong(label)
		}
		line := mark + label
		if help != "" {
			line += fill + "  " + m.faint(help)
		}
		rows = append(rows, line)
	}
	if more := len(list) - last; more > 0 {
		rows = append(rows, m.faint(fmt.Sprintf("  %d more below", more)))
	}
	return rows
}

// status is the line below the input.
func (m *model) status() string {
	if !m.opened {
		return "Opening the session…"
	}
	if m.closed {
		return "The session has ended. Use /new to start another."
	}
	var parts []string
	if m.model != "" {
		parts = append(parts, m.model)
	}
	if used := m.last.Prompt() + m.last.Output; used > 0 && m.window > 0 {
		parts = append(parts, fmt.Sprintf("%d %% of context", used*100/int64(m.window)))
	}
	if m.title != "" {
		parts = append(parts, m.title)
	}
	if m.busy {
		return strings.Join(append(parts, "Ctrl+C to stop"), " · ")
	}
	return strings.Join(append(parts, "/help"), " · ")
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}
