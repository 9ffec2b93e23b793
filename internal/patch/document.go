package patch

import (
	"sort"
	"strings"
)

const bom = "\ufeff"

// A span is a stretch of text in bytes, end excluded.
type span struct{ start, end int }

// A document is a file's text as strategies see it: without byte order mark and
// with plain line feeds, beside what it takes to write the original back.
type document struct {
	raw   string
	skip  int    // bytes of byte order mark at the start of raw
	text  string // raw without the mark, CRLF as LF
	crlf  []int  // offsets in text of line feeds that were CRLF, ascending
	lines []span // lines of text, without their line feeds
	unit  int    // columns of one step of indentation; 0 until asked
}

func newDocument(raw string) *document {
	d := &document{raw: raw}
	body := strings.TrimPrefix(raw, bom)
	d.skip = len(raw) - len(body)
	d.text = body
	if strings.Contains(body, "\r\n") {
		d.text = strings.ReplaceAll(body, "\r\n", "\n")
		d.crlf = crlfOffsets(body)
	}
	d.lines = lineSpans(d.text)
	return d
}

// crlfOffsets gives where each CRLF of body lands once it is a line feed.
func crlfOffsets(body string) []int {
	var at []int
	for from := 0; ; {
		i := strings.Index(body[from:], "\r\n")
		if i < 0 {
			return at
		}
		at = append(at, from+i-len(at))
		from += i + 2
	}
}

func lineSpans(text string) []span {
	spans := make([]span, 0, 1+strings.Count(text, "\n"))
	start := 0
	for {
		i := strings.IndexByte(text[start:], '\n')
		if i < 0 {
			return append(spans, span{start, len(text)})
		}
		spans = append(spans, span{start, start + i})
		start += i + 1
	}
}

// line gives the text of line i, counted from 0.
func (d *document) line(i int) string { return d.text[d.lines[i].start:d.lines[i].end] }

// lineAt gives the index of the line that holds offset.
func (d *document) lineAt(offset int) int {
	return sort.Search(len(d.lines), func(i int) bool { return d.lines[i].start > offset }) - 1
}

// original gives the offset in raw for an offset in text.
func (d *document) original(offset int) int {
	return d.skip + offset + sort.SearchInts(d.crlf, offset)
}

// rawSpan gives the bytes of the file that a span of text stands for.
func (d *document) rawSpan(s span) string {
	return d.raw[d.original(s.start):d.original(s.end)]
}

// ending gives the line ending in use at s: that of the first line break at or
// after its start, else of the last one before it.
func (d *document) ending(s span) string {
	if len(d.crlf) == 0 {
		return "\n"
	}
	at := strings.IndexByte(d.text[s.start:], '\n') + s.start
	if at < s.start {
		at = strings.LastIndexByte(d.text, '\n')
	}
	if i := sort.SearchInts(d.crlf, at); i < len(d.crlf) && d.crlf[i] == at {
		return "\r\n"
	}
	return "\n"
}

// An edit puts text (with plain line feeds) in the place of a span.
type edit struct {
	span
	text string
}

// apply returns the file with the edits made, which must be in order and must
// not overlap. Everything outside them is copied byte for byte.
func (d *document) apply(edits []edit) string {
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.WriteString(d.raw[done:d.original(e.start)])
		text := strings.ReplaceAll(e.text, "\r\n", "\n")
		if ending := d.ending(e.span); ending != "\n" {
			text = strings.ReplaceAll(text, "\n", ending)
		}
		out.WriteString(text)
		done = d.original(e.end)
	}
	out.WriteString(d.raw[done:])
	return out.String()
}
