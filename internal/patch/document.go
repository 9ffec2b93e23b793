package patch

import (
	"errors"
	"iter"
	"slices"
	"strings"
)

const bom = "\ufeff"

// maxText bounds the texts that are changed, in bytes: offsets fit 32 bits.
const maxText = 1 << 31

var errTooBig = errors.New("the file is too big to change with this tool: use the terminal tool")

// A span is a stretch of text in bytes, end excluded.
type span struct{ start, end int }

// A document is a file's text as strategies see it: without byte order mark and
// with plain line feeds. It also holds what is needed to write the original
// form. Beside the text it needs little memory, however long the file is and
// however short its lines are. One goroutine uses it at a time.
type document struct {
	raw   string
	skip  int      // bytes of byte order mark at the start of raw
	text  string   // raw without the mark, CRLF as LF
	crlf  []uint32 // offsets in text of line feeds that were CRLF, ascending
	unit  int      // columns of one step of indentation; 0 until asked
	marks []uint32 // line feeds before each block of text; nil until asked
	last  span     // the line that lineOf returned last
	known bool     // last is set
}

func newDocument(raw string) *document {
	d := &document{raw: raw}
	body := strings.TrimPrefix(raw, bom)
	d.skip = len(raw) - len(body)
	d.text = body
	if n := strings.Count(body, "\r\n"); n > 0 {
		d.text = strings.ReplaceAll(body, "\r\n", "\n")
		d.crlf = crlfOffsets(body, n)
	}
	return d
}

// crlfOffsets returns the offset of each of the n CRLF of body after it became
// a line feed.
func crlfOffsets(body string, n int) []uint32 {
	at := make([]uint32, 0, n)
	for from := 0; len(at) < n; {
		i := strings.Index(body[from:], "\r\n")
		at = append(at, uint32(from+i-len(at)))
		from += i + 2
	}
	return at
}

// linesFrom yields the lines from the one that begins at start, without their
// line feeds. The text after the last line feed is a line, also when empty.
func (d *document) linesFrom(start int) iter.Seq[span] {
	return func(yield func(span) bool) {
		for {
			end := d.lineEnd(start)
			if !yield(span{start, end}) || end == len(d.text) {
				return
			}
			start = end + 1
		}
	}
}

// windows yields each run of n lines. The slice is valid until the next one.
func (d *document) windows(n int) iter.Seq[[]span] {
	return func(yield func([]span) bool) {
		held := make([]span, 0, 2*n)
		for s := range d.linesFrom(0) {
			if len(held) == cap(held) {
				held = held[:copy(held, held[len(held)-n+1:])]
			}
			held = append(held, s)
			if len(held) >= n && !yield(held[len(held)-n:]) {
				return
			}
		}
	}
}

// at returns the text of a span.
func (d *document) at(s span) string { return d.text[s.start:s.end] }

// lineEnd returns the end of the line that contains offset.
func (d *document) lineEnd(offset int) int {
	if i := strings.IndexByte(d.text[offset:], '\n'); i >= 0 {
		return offset + i
	}
	return len(d.text)
}

// lineOf returns the line that contains offset.
func (d *document) lineOf(offset int) span {
	if !d.known || offset < d.last.start || offset > d.last.end {
		d.last = span{strings.LastIndexByte(d.text[:offset], '\n') + 1, d.lineEnd(offset)}
		d.known = true
	}
	return d.last
}

// back returns where the line begins that is n lines above the one that begins
// at start, or the first line.
func (d *document) back(start, n int) int {
	for ; n > 0 && start > 0; n-- {
		start = strings.LastIndexByte(d.text[:start-1], '\n') + 1
	}
	return start
}

// markEvery is the size of the blocks whose line feeds are counted once.
const markEvery = 1 << 14

// lineAt returns the index of the line that contains offset, counted from 0.
func (d *document) lineAt(offset int) int {
	if d.marks == nil {
		d.marks = lineMarks(d.text)
	}
	block := offset / markEvery
	return int(d.marks[block]) + strings.Count(d.text[block*markEvery:offset], "\n")
}

func lineMarks(text string) []uint32 {
	marks := make([]uint32, 1, 1+len(text)/markEvery)
	for at := 0; at+markEvery <= len(text); at += markEvery {
		marks = append(marks, marks[len(marks)-1]+uint32(strings.Count(text[at:at+markEvery], "\n")))
	}
	return marks
}

// original returns the offset in raw for an offset in text.
func (d *document) original(offset int) int {
	n, _ := slices.BinarySearch(d.crlf, uint32(offset))
	return d.skip + offset + n
}

// rawSpan returns the bytes of the file for a span of text.
func (d *document) rawSpan(s span) string {
	return d.raw[d.original(s.start):d.original(s.end)]
}

// ending returns the line ending used at s: that of the first line break at or
// after its start, else of the last one before it.
func (d *document) ending(s span) string {
	if len(d.crlf) == 0 {
		return "\n"
	}
	line := d.lineOf(s.start)
	at := line.end
	if at == len(d.text) {
		at = line.start - 1
	}
	if at < 0 {
		return "\n"
	}
	if _, ok := slices.BinarySearch(d.crlf, uint32(at)); ok {
		return "\r\n"
	}
	return "\n"
}

// An edit replaces a span by text with plain line feeds.
type edit struct {
	span
	text string
}

// apply returns the file with the edits made. They must be in order and must
// not overlap. Everything else is copied byte for byte.
func (d *document) apply(edits []edit) string {
	size := len(d.raw)
	for i, e := range edits {
		e.text = strings.ReplaceAll(e.text, "\r\n", "\n")
		if ending := d.ending(e.span); ending != "\n" {
			e.text = strings.ReplaceAll(e.text, "\n", ending)
		}
		edits[i] = e
		size += len(e.text) - len(d.rawSpan(e.span))
	}
	var out strings.Builder
	out.Grow(size)
	done := 0
	for _, e := range edits {
		out.WriteString(d.raw[done:d.original(e.start)])
		out.WriteString(e.text)
		done = d.original(e.end)
	}
	out.WriteString(d.raw[done:])
	return out.String()
}
