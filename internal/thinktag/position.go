package thinktag

import (
	"bytes"
	"strings"
)

// position is where in a Markdown text the next byte is.
type position struct {
	midline bool          // the line has text already
	last    [maxTail]byte // the last bytes of the line, after zeros if it is shorter
	word    byte          // the last byte of the line that is no blank

	fence  run  // the open code block
	head   bool // the line has more than indentation
	run    run  // of backticks or tildes, not ended yet
	first  bool // the run is the first on its line
	begins run  // the line begins with a fence: a code block from its end on
	ends   bool // the line ends the code block
	span   int  // the open inline code: its number of backticks
}

type run struct {
	of     byte
	length int
}

// minFence is the length of the shortest fence of a code block.
const minFence = 3

// maxTail is enough for what quoted looks for before a tag, in bytes.
const maxTail = 8

func (p *position) write(text []byte) {
	for _, c := range text {
		p.next(c)
	}
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	text = text[max(0, len(text)-maxTail):]
	copy(p.last[:], p.last[len(text):])
	copy(p.last[maxTail-len(text):], text)
}

// tail returns the last bytes of the line.
func (p *position) tail() string { return strings.TrimLeft(string(p.last[:]), "\x00") }

func (p *position) next(c byte) {
	if p.run.length > 0 && c == p.run.of {
		p.run.length++
		return
	}
	p.endRun()
	switch c {
	case '\n':
		p.endLine()
		return
	case '`', '~':
		p.run, p.first, p.head = run{c, 1}, !p.head, true
		p.ends = false
	case ' ', '\t', '\r':
		return
	case '>': // a quoted line may begin with a fence
	default:
		p.head, p.ends = true, false
	}
	p.midline, p.word = true, c
}

// endRun decides what a run of backticks or tildes means.
func (p *position) endRun() {
	r := p.run
	p.run = run{}
	switch {
	case r.length == 0:
	case p.fence.length > 0:
		p.ends = p.first && r.of == p.fence.of && r.length >= p.fence.length
	case p.first && r.length >= minFence:
		p.begins = r
	case r.of == '~':
	case p.begins.of == '`': // a fence has no backtick after it, so it was inline code
		p.span, p.begins = p.begins.length, run{}
		fallthrough
	default:
		switch p.span {
		case 0:
			p.span = r.length
		case r.length:
			p.span = 0
		}
	}
}

func (p *position) endLine() {
	fence := p.fence
	switch {
	case p.begins.length > 0:
		fence = p.begins
	case p.ends:
		fence = run{}
	}
	*p = position{fence: fence}
}

// inCode reports whether a tag here is in a code block or in inline code.
func (p *position) inCode() bool {
	p.endRun()
	return p.fence.length > 0 || p.begins.length > 0 || p.span > 0
}

// quoted reports whether a tag here, with this text after it, is in quotation
// marks, brackets or emphasis, or alone in a cell of a table or in a pattern.
func (p *position) quoted(after string) bool {
	tail := p.tail()
	for _, q := range [...][2]string{{`"`, `"`}, {"'", "'"}, {"(", ")"}, {"[", "]"}, {"“", "”"}, {"„", "“"}, {"‘", "’"}, {"«", "»"}, {"/", "/"}, {"|", "|"}} {
		if strings.HasSuffix(tail, q[0]) && after != "" && after[0] == q[1][0] {
			return true
		}
	}
	if after == "" {
		return false
	}
	if strings.HasSuffix(tail, "<code>") && after[0] == '<' {
		return true
	}
	// Emphasis that begins before the tag and ends after it, as in **<think>**. Marks
	// behind a word end what came before.
	before := strings.TrimRight(tail, "*_")
	return len(before) < len(tail) && (before == "" || strings.HasSuffix(before, " ")) && (after[0] == '*' || after[0] == '_')
}

// escaped reports whether a tag here begins a string that goes on with an escape, as
// in "</think>\n".
func (p *position) escaped(after string) bool {
	return (strings.HasSuffix(p.tail(), `"`) || strings.HasSuffix(p.tail(), "'")) && strings.HasPrefix(after, `\`)
}

// named reports whether a tag here, with this text after it, is only named: in
// the middle of a sentence, with blanks around it.
func (p *position) named(after string) bool {
	return strings.HasSuffix(p.tail(), " ") && !strings.ContainsRune(".!?:", rune(p.word)) && p.midline &&
		(after == "" || strings.ContainsRune(" .,;:!?)", rune(after[0])))
}
