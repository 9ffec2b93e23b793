package markup

import (
	"strings"
	"unicode/utf8"
)

// indent is the prefix of the lines of a block: first once, then rest. Both have the
// same width.
type indent struct {
	first, rest []span
	width       int
}

// nest adds a marker to the indent: the marker appears once, then blanks or a bar.
func (in indent) nest(first, rest span) indent {
	return indent{
		first: append(in.first[:len(in.first):len(in.first)], first),
		rest:  append(in.rest[:len(in.rest):len(in.rest)], rest),
		width: in.width + Width(first.text),
	}
}

// take returns the prefix of the next line and removes it.
func (in *indent) take() []span {
	first := in.first
	in.first = in.rest
	return first
}

// line returns the next line of the block: its prefix and the spans.
func (in *indent) line(spans ...span) []span {
	prefix := in.take()
	return append(prefix[:len(prefix):len(prefix)], spans...)
}

// wrapper fills lines with words. It breaks at blanks and between wide characters, and
// inside a word only if it is longer than a line.
type wrapper struct {
	width  int // cells for text, indent not counted
	indent indent
	lines  [][]span

	line       []span
	used       int
	word       []span
	wordWidth  int
	wide       bool // the word ends with a wide character
	space      []span
	spaceWidth int
}

func newWrapper(in indent, width int) *wrapper {
	return &wrapper{indent: in, width: max(width-in.width, 8)}
}

// add adds text in one style. A line break in it ends the line.
func (w *wrapper) add(text string, style Style) {
	for text != "" {
		switch c := text[0]; {
		case c == '\n':
			w.endLine()
			text = text[1:]
		case c == ' ' || c == '\t':
			w.endWord()
			if w.used > 0 {
				w.space = append(w.space, span{" ", style})
				w.spaceWidth++
			}
			text = text[1:]
		default:
			n := asciiWord(text)
			if n > 0 {
				if w.wide && !w.endsOpening() {
					w.endWord()
				}
				w.grow(text[:n], n, style)
				text = text[n:]
				continue
			}
			n, cells := Cluster(text)
			w.addCluster(text[:n], cells, style)
			text = text[n:]
		}
	}
}

// addCluster adds one non-ASCII character. A wide one is a separate word, except next
// to a sign that must stay with it.
func (w *wrapper) addCluster(text string, cells int, style Style) {
	r, _ := utf8.DecodeRuneInString(text)
	wide := cells == 2 && r >= 0x1100
	if (wide || w.wide) && !closing(r) && !w.endsOpening() {
		w.endWord()
	}
	w.grow(text, cells, style)
	w.wide = wide
}

func (w *wrapper) endsOpening() bool {
	if len(w.word) == 0 {
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(w.word[len(w.word)-1].text)
	return opening(r)
}

func (w *wrapper) grow(text string, cells int, style Style) {
	w.word = append(w.word, span{text, style})
	w.wordWidth += cells
}

// endWord writes the pending word on this line, or on the next one.
func (w *wrapper) endWord() {
	if len(w.word) == 0 {
		return
	}
	if w.used+w.spaceWidth+w.wordWidth > w.width && w.used > 0 {
		if w.wordWidth <= w.width || w.width-w.used < w.width/3 {
			w.flushLine()
		}
	}
	if w.used > 0 {
		w.line = append(w.line, w.space...)
		w.used += w.spaceWidth
	}
	w.space, w.spaceWidth = w.space[:0], 0
	if w.used+w.wordWidth <= w.width {
		w.line = append(w.line, w.word...)
		w.used += w.wordWidth
	} else {
		w.chop()
	}
	w.word, w.wordWidth, w.wide = w.word[:0], 0, false
}

// chop splits a word that is longer than a line.
func (w *wrapper) chop() {
	for _, s := range w.word {
		start, pos := 0, 0
		for pos < len(s.text) {
			n, cells := Cluster(s.text[pos:])
			if w.used+cells > w.width && w.used > 0 {
				w.line = append(w.line, span{s.text[start:pos], s.style})
				w.flushLine()
				start = pos
			}
			w.used += cells
			pos += n
		}
		w.line = append(w.line, span{s.text[start:], s.style})
	}
}

// endLine ends the line at a line break of the text.
func (w *wrapper) endLine() {
	w.endWord()
	w.flushLine()
}

func (w *wrapper) flushLine() {
	prefix := w.indent.take()
	line := make([]span, 0, len(prefix)+len(w.line))
	line = append(append(line, prefix...), w.line...)
	w.lines = append(w.lines, line)
	w.line, w.used = w.line[:0], 0
	w.space, w.spaceWidth = w.space[:0], 0
}

// finish ends the last line and returns all.
func (w *wrapper) finish() [][]span {
	w.endWord()
	if w.used > 0 || len(w.lines) == 0 && len(w.indent.first) > 0 {
		w.flushLine()
	}
	return w.takeLines()
}

// takeLines returns the lines that are full and forgets them.
func (w *wrapper) takeLines() [][]span {
	lines := w.lines
	w.lines = nil
	return lines
}

// copy returns a wrapper that can be used without changing this one.
func (w *wrapper) copy() *wrapper {
	c := *w
	c.lines = nil
	c.line = append([]span(nil), w.line...)
	c.word = append([]span(nil), w.word...)
	c.space = append([]span(nil), w.space...)
	return &c
}

// asciiWord returns the length of the run of printable ASCII at the beginning of text,
// without a last character that may be part of a joined one.
func asciiWord(text string) int {
	n := 0
	for n < len(text) && text[n] > ' ' && text[n] < 0x7f {
		n++
	}
	if n < len(text) && text[n] >= utf8.RuneSelf {
		n--
	}
	return max(n, 0)
}

// closing reports whether a sign must not begin a line.
func closing(r rune) bool {
	return strings.ContainsRune("、。，．・：；？！）］｝」』】〉》〕〗’”…ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々", r)
}

// opening reports whether a sign must not end a line.
func opening(r rune) bool { return strings.ContainsRune("（［｛「『【〈《〔〖", r) }
