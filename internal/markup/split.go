package markup

import "strings"

// kind is the kind of a top-level block.
type kind int

const (
	none kind = iota
	paragraph
	item // one item of a list
	quote
	fence // a fenced code block that is open
	code  // code that has ended
	indented
	html
	single // a block of one line: heading or rule
)

// block is the state of the stream's open block.
type block struct {
	kind    kind
	fence   string // what closes the fence, also of one in a list item
	indent  int    // of the fence, or of the text of a list item
	ordered bool
	blank   bool // the last line was blank
}

// scan processes one complete line of source.
func (s *Stream) scan(line string) {
	switch s.open.kind {
	case fence:
		s.scanFence(line)
		return
	case item:
		if s.staysInItem(line) {
			return
		}
	case quote:
		if strings.HasPrefix(strings.TrimLeft(line, " "), ">") || !blank(line) && !begins(line) {
			s.hold(line)
			return
		}
		s.endBlock()
	case indented:
		if blank(line) || indentOf(line) >= 4 {
			s.hold(line)
			return
		}
		s.endBlock()
	case html:
		if !blank(line) {
			s.hold(line)
			return
		}
		s.endBlock()
	case paragraph:
		if s.staysInParagraph(line) {
			return
		}
		s.endBlock()
	}
	s.begin(line)
}

// begin opens the block that starts with a line.
func (s *Stream) begin(line string) {
	mark := strings.TrimLeft(line, " ")
	switch {
	case blank(line):
		s.gap = true
		return
	case fenceOf(line) != "":
		s.openFence(line)
		return
	case heading(mark) || rule(mark):
		s.hold(line)
		s.open = block{kind: single}
		s.endBlock()
		return
	case mark[0] == '>':
		s.open = block{kind: quote}
	case marker(mark) > 0:
		n := marker(mark)
		s.open = block{kind: item, indent: indentOf(line) + n, ordered: mark[0] >= '0' && mark[0] <= '9'}
		s.trackFence(line)
	case indentOf(line) >= 4 || line[0] == '\t':
		s.open = block{kind: indented}
	case mark[0] == '<' && len(mark) > 1 && (letter(mark[1]) || mark[1] == '!' || mark[1] == '/'):
		s.open = block{kind: html}
	default:
		s.open = block{kind: paragraph}
	}
	s.hold(line)
}

func (s *Stream) openFence(line string) {
	mark := strings.TrimLeft(line, " ")
	bar := fenceOf(line)
	info, _, _ := strings.Cut(strings.TrimSpace(mark[len(bar):]), " ")
	if s.last == code {
		s.gap = true
	}
	s.open = block{kind: fence, fence: bar, indent: indentOf(line)}
	s.code = newHighlighter(info, s.o)
}

func (s *Stream) scanFence(line string) {
	if closesFence(line, s.open.fence) {
		s.endBlock()
		return
	}
	for range s.open.indent {
		if !strings.HasPrefix(line, " ") {
			break
		}
		line = line[1:]
	}
	s.codeLine(line)
}

func (s *Stream) codeLine(line string) {
	s.print(fence, [][]span{s.code.line(line)})
}

// staysInItem adds a line if it belongs to the open list item, and reports whether it
// does.
func (s *Stream) staysInItem(line string) bool {
	in := indentOf(line)
	switch {
	case s.open.fence != "":
		if closesFence(strings.TrimLeft(line, " "), s.open.fence) {
			s.open.fence = ""
		} else if in < 2 && !blank(line) && s.open.blank {
			break // the fence was never closed
		}
		s.hold(line)
		return true
	case blank(line):
		s.open.blank = true
		s.hold(line)
		return true
	case in >= s.open.indent || in >= 2 && !s.open.ordered || in >= 3:
		s.open.blank = false
		s.trackFence(line)
		s.hold(line)
		return true
	case !s.open.blank && !begins(line):
		s.hold(line)
		return true
	}
	gap := s.open.blank
	s.endBlock()
	s.gap = gap
	return false
}

func (s *Stream) trackFence(line string) {
	rest := strings.TrimLeft(line, " ")
	if n := marker(rest); n > 0 && n < len(rest) {
		rest = strings.TrimLeft(rest[n:], " ")
	}
	if bar := fenceOf(rest); bar != "" {
		s.open.fence = bar
	}
}

// staysInParagraph adds a line if it belongs to the open paragraph, and reports
// whether it does.
func (s *Stream) staysInParagraph(line string) bool {
	mark := strings.TrimLeft(line, " ")
	if blank(line) {
		return false
	}
	if under := strings.TrimRight(mark, " "); s.para == nil && under != "" && (strings.Trim(under, "=") == "" || strings.Trim(under, "-") == "") {
		s.hold(line)
		s.endBlock()
		return true
	}
	if begins(line) {
		return false
	}
	s.hold(line)
	return true
}

// tabular reports whether the open paragraph is, or may become, a table.
func (s *Stream) tabular() bool {
	if s.para != nil {
		return false
	}
	text := string(s.src[:min(len(s.src), 4<<10)]) + string(s.line[:min(len(s.line), 4<<10)])
	head, rest, ended := strings.Cut(text, "\n")
	if !strings.Contains(head, "|") {
		return false
	}
	second, _, ended2 := strings.Cut(rest, "\n")
	_, delimits := delimiterRow(second)
	return !ended || delimits || !ended2 && strings.Trim(second, "|:- \t") == ""
}

// begins reports whether a line begins a block that ends a paragraph.
func begins(line string) bool {
	mark := strings.TrimLeft(line, " ")
	if mark == "" || indentOf(line) >= 4 {
		return false
	}
	if n := marker(mark); n > 0 {
		return mark[0] < '0' || mark[0] > '9' || strings.HasPrefix(mark, "1")
	}
	return mark[0] == '>' || heading(mark) || rule(mark) || fenceOf(line) != ""
}

func blank(line string) bool { return strings.TrimSpace(line) == "" }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// heading reports whether a line is an ATX heading.
func heading(mark string) bool {
	n := len(mark) - len(strings.TrimLeft(mark, "#"))
	return n >= 1 && n <= 6 && (len(mark) == n || mark[n] == ' ' || mark[n] == '\t')
}

// rule reports whether a line is a thematic break.
func rule(mark string) bool {
	packed := strings.ReplaceAll(strings.ReplaceAll(mark, " ", ""), "\t", "")
	return len(packed) >= 3 && (strings.Trim(packed, "-") == "" || strings.Trim(packed, "*") == "" || strings.Trim(packed, "_") == "")
}

// marker returns the length of the list marker at the beginning of a line, with its
// blank, or 0.
func marker(mark string) int {
	n := 0
	switch {
	case mark == "":
		return 0
	case mark[0] == '-' || mark[0] == '*' || mark[0] == '+':
		n = 1
	default:
		for n < len(mark) && n < 9 && mark[n] >= '0' && mark[n] <= '9' {
			n++
		}
		if n == 0 || n == len(mark) || mark[n] != '.' && mark[n] != ')' {
			return 0
		}
		n++
	}
	if n == len(mark) {
		return n + 1
	}
	if mark[n] != ' ' && mark[n] != '\t' || rule(mark) {
		return 0
	}
	return n + 1
}

// fenceOf returns the run of backticks or tildes that opens a fence, or "".
func fenceOf(line string) string {
	mark := strings.TrimLeft(line, " ")
	if len(line)-len(mark) > 3 || len(mark) < 3 || mark[0] != '`' && mark[0] != '~' {
		return ""
	}
	n := len(mark) - len(strings.TrimLeft(mark, mark[:1]))
	if n < 3 || mark[0] == '`' && strings.Contains(mark[n:], "`") {
		return ""
	}
	return mark[:n]
}

func closesFence(line, bar string) bool {
	mark := strings.TrimSpace(line)
	return indentOf(line) <= 3 && len(mark) >= len(bar) && strings.Trim(mark, bar[:1]) == ""
}
