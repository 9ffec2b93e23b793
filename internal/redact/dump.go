package redact

import (
	"slices"
	"strings"

	"hermes/internal/order"
)

// Bounds of the lines of a dump, as xxd, hexdump and od print them.
const (
	dumpLine    = 400 // bytes of a line
	dumpCells   = 64  // bytes that a line shows
	dumpOffset  = 6   // the shortest offset
	dumpOffsets = 16  // the longest one
)

// cell is where a dump shows one byte: its digits and, if there is one, its place in the column of text.
type cell struct {
	c             byte
	from, to      int
	text, textEnd int
}

// dumpedLine is one line of a dump.
type dumpedLine struct {
	n     int
	cells [dumpCells]cell
}

// run of lines of a dump, one after another, and the bytes that they show.
type dumpRun struct {
	data  []byte
	lines []lineOfRun
}

// lineOfRun is where a line begins in the text, and in the data.
type lineOfRun struct{ at, first int }

// dumps finds known values in dumps of bytes, also where they go on in the next line. What one byte is, two
// columns show: both are masked.
func (p *pass) dumps(from int) {
	s := p.s
	at := 0
	if back := strings.LastIndexByte(s[max(0, from-dumpLine):from], '\n'); back >= 0 {
		at = max(0, from-dumpLine) + back + 1
	} else if from > dumpLine {
		at = from // no line of a dump is so long
	}
	var run dumpRun
	var line dumpedLine
	for at < len(s) {
		end := strings.IndexByte(s[at:], '\n')
		whole := end >= 0
		if end < 0 {
			end = len(s) - at
		}
		next := at + end + 1
		first := at
		for first < next-1 && first < at+dumpOffsets && isBlank(s[first]) {
			first++
		}
		if first < next-1 && hexDigit(s[first]) < 0 && s[at] != '{' { // most lines
			p.dumped(&run, true)
			at = next
			continue
		}
		if s[at] == '{' { // a result in JSON: its first line is within
			at += inJSON(s[at : at+min(end, 4*dumpLine)])
		}
		may := mayBeDump(s[at : next-1])
		if may && !whole && !p.final && next-1-at <= dumpLine { // a part of a line
			p.dumped(&run, false)
			p.back = min(p.back, at)
			p.hold(at)
			return
		}
		if !may || !line.parse(s, at) {
			ended := whole || p.final
			if !ended {
				_, to := offset(s[at:])
				ended = at+to < len(s) // else its offset is not complete
			}
			p.dumped(&run, ended)
			at = next
			continue
		}
		p.steps += next - at
		run.lines = append(run.lines, lineOfRun{at, len(run.data)})
		for i := range line.n {
			run.data = append(run.data, line.cells[i].c)
		}
		at = next
	}
	p.dumped(&run, p.final)
}

// inJSON returns where the last text begins that a line of JSON opens.
func inJSON(line string) int {
	for _, mark := range []string{`":"`, `": "`} {
		if at := strings.LastIndex(line[:min(len(line), 4*dumpLine)], mark); at >= 0 {
			return at + len(mark)
		}
	}
	return 0
}

// dumped masks the known values that a run of lines shows, and forgets the run.
func (p *pass) dumped(run *dumpRun, final bool) {
	if len(run.data) == 0 {
		return
	}
	q := pass{s: string(run.data), final: final, known: p.known}
	q.settled, q.back = len(q.s), len(q.s)
	var line dumpedLine
	var spans []span
	for _, sp := range q.knownSpans(0) {
		first := len(spans)
		k, _ := slices.BinarySearchFunc(run.lines, sp.from+1, func(l lineOfRun, at int) int { return l.first - at })
		for k--; k < len(run.lines) && run.lines[k].first < sp.to; k++ {
			l := run.lines[k]
			if line.parse(p.s, l.at) {
				spans = line.mask(spans, max(0, sp.from-l.first), min(line.n, sp.to-l.first))
			}
			p.steps += dumpLine
		}
		if part := spans[first:]; len(part) > 0 && !p.final {
			p.together = append(p.together, span{from: part[0].from, to: part[len(part)-1].to})
		}
	}
	order.By(spans, func(a, b span) int { return a.from - b.from })
	p.spans = append(p.spans, spans...)
	p.steps += q.steps
	if open := min(q.settled, q.back); open < len(q.s) {
		k, _ := slices.BinarySearchFunc(run.lines, open+1, func(l lineOfRun, at int) int { return l.first - at })
		p.back = min(p.back, run.lines[k-1].at)
		if q.settled < len(q.s) {
			k, _ := slices.BinarySearchFunc(run.lines, q.settled+1, func(l lineOfRun, at int) int { return l.first - at })
			p.hold(run.lines[k-1].at)
		}
	}
	run.data, run.lines = run.data[:0], run.lines[:0]
}

// mask hides the cells from a to b of a line.
func (l *dumpedLine) mask(spans []span, a, b int) []span {
	if a >= b {
		return spans
	}
	digits, text := span{mask: hidden, from: l.cells[a].from}, span{mask: hidden, from: l.cells[a].text}
	for _, c := range l.cells[a:b] {
		digits.from, digits.to = min(digits.from, c.from), max(digits.to, c.to)
		text.to = max(text.to, c.textEnd)
	}
	spans = append(spans, digits)
	if text.to > text.from {
		spans = append(spans, text)
	}
	return spans
}

// numbering returns the size of the number that read_file gives a line, with its bar.
func numbering(line string) int {
	n := 0
	for n < len(line) && n < 9 && isDigit(line[n]) {
		n++
	}
	if n > 0 && n < len(line) && line[n] == '|' {
		return n + 1
	}
	return 0
}

// offset returns where the digits of a line's offset begin and end.
func offset(line string) (from, to int) {
	from = numbering(line)
	for from < len(line) && from < dumpOffsets && isBlank(line[from]) {
		from++
	}
	to = from
	for to < len(line) && to-from <= dumpOffsets && hexDigit(line[to]) >= 0 {
		to++
	}
	return from, to
}

// mayBeDump reports whether a line, or the beginning of one, has an offset with a mark after it. The text
// before a first line, as the name of a field of JSON, is not looked at.
func mayBeDump(line string) bool {
	if len(line) <= dumpOffset {
		return false
	}
	from, to := offset(line)
	return to-from >= dumpOffset && to-from <= dumpOffsets && to < len(line) && (line[to] == ' ' || line[to] == ':')
}

// parse reads the line that begins at a place.
func (l *dumpedLine) parse(s string, at int) bool {
	l.n = 0
	end := min(len(s), at+dumpLine)
	if n := strings.IndexByte(s[at:end], '\n'); n >= 0 {
		end = at + n
	}
	from, to := offset(s[at:end])
	digits := to - from
	i := at + to
	for end > i && (isBlank(s[end-1]) || s[end-1] == '\r') {
		end--
	}
	if i >= end {
		return false
	}
	colon := s[i] == ':'
	if colon {
		i++
	} else if digits >= dumpOffset && digits <= 7 && l.narrow(s, i, end) {
		return true
	}
	l.n = 0
	text := -1
	for i < end && text < 0 {
		blanks := i
		for i < end && s[i] == ' ' {
			i++
		}
		switch {
		case l.n > 0 && i == blanks && i < end && s[i] == '"': // the end of a text of JSON
			return true
		case i == end || i == blanks:
			return false
		case colon && l.n > 0 && i-blanks >= 2:
			text = i
			continue
		case !colon && l.n > 0 && (s[i] == '|' || s[i] == '>'):
			text = i + 1
			continue
		}
		group := i
		for i < end && hexDigit(s[i]) >= 0 {
			i++
		}
		size := (i - group) / 2
		if size == 0 || (i-group)%2 != 0 || size > 8 || l.n+size > dumpCells {
			return false
		}
		for k := range size {
			c, _ := hexByte(s[group+2*k : i])
			l.cells[l.n] = cell{c: c, from: group + 2*k, to: group + 2*k + 2}
			l.n++
		}
		if !colon && size > 1 {
			slices.Reverse(l.cells[l.n-size : l.n]) // od and hexdump print numbers
		}
	}
	if text >= 0 {
		l.column(s, text, end)
	}
	return l.n > 0
}

// narrow reads what od -b and od -c print: each byte in four places, as three digits or as it is.
func (l *dumpedLine) narrow(s string, i, end int) bool {
	for _, mark := range []string{`",`, `"}`} { // the end of a text of JSON
		if n := strings.Index(s[i:end], mark); n > 0 {
			end = i + n
		}
	}
	for size := 4; i < end; i += size {
		if i+4 > end || s[i] != ' ' || l.n == dumpCells {
			return false
		}
		size = 4
		place := s[i+1 : i+4]
		c, ok := number(place, 8)
		switch {
		case ok:
		case place == `  \` && strings.HasPrefix(s[i+3:end], `\u00`) && i+9 <= end: // JSON writes it so
			c, _ = hexByte(s[i+7 : i+9])
			size = 9
		case place == `  \` && i+5 <= end && s[i+4] == '\\':
			c, size = '\\', 5
		case place[:2] == "  ":
			c = place[2]
		case place == ` \\`:
			c = '\\'
		case place[0] == ' ':
			c = '\n' // an escape
		default:
			return false
		}
		l.cells[l.n] = cell{c: c, from: i + 1, to: i + size}
		l.n++
	}
	return l.n > 0
}

// column reads the column of text.
func (l *dumpedLine) column(s string, i, end int) {
	if last := s[end-1]; end-i == l.n+1 && (last == '|' || last == '<') {
		end--
	}
	plain := end-i <= l.n
	for k := range l.n {
		if i >= end {
			return
		}
		size := 1
		switch {
		case plain:
		case s[i] == '\\' && l.cells[k].c == '\\' && i+1 < end && s[i+1] == '\\':
			size = 2
		case s[i] == '\\' && i+6 <= end && s[i+1] == 'u':
			size = 6
		}
		l.cells[k].text, l.cells[k].textEnd = i, min(end, i+size)
		i += size
	}
}
