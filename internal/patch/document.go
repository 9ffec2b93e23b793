package patch

import (
	"sort"
	"strings"
)

const bom = "\ufeff"

// A span is a stretch of text in bytes, end excluded.
type span struct{ start, end int }

// A document is a file's text as strategies see it: without byte order mark and
// with plain line feeds. It also holds what is needed to write the original
// form.
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

// crlfOffsets returns the offset of each CRLF of body after it became a line feed.
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

// line returns the text of line i, counted from 0.
func (d *document) line(i int) string { return d.text[d.lines[i].start:d.lines[i].end] }

// lineAt returns the index of the line that contains offset.
func (d *document) lineAt(offset int) int {
	return sort.Search(len(d.lines), func(i int) bool { return d.lines[i].start > offset }) - 1
}

// original returns the offset in raw for an offset in text.
func (d *document) original(offset int) int {
	return d.skip + offset + sort.SearchInts(d.crlf, offset)
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
	at := strings.IndexByte(d.text[s.start:], '\n') + s.start
	if at < s.start {
		at = strings.LastIndexByte(d.text, '\n')
	}
	if i := sort.SearchInts(d.crlf, at); i < len(d.crlf) && d.crlf[i] == at {
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
