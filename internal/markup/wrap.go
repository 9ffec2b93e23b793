package markup

import (
	"strings"
	"unicode/utf8"
)

// indent is what stands before the lines of a block: first once, then rest.
// Both take the same number of cells.
type indent struct {
	first, rest []span
	width       int
}

// nest adds a marker to the indent: it stands once, blanks or the bar after.
func (in indent) nest(first, rest span) indent {
	return indent{
		first: append(in.first[:len(in.first):len(in.first)], first),
		rest:  append(in.rest[:len(in.rest):len(in.rest)], rest),
		width: in.width + Width(first.text),
	}
}

// take returns the prefix of the next line and leaves only the later ones.
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

// wrapper fills lines with words. It breaks at blanks and between wide
// characters, and inside a word only where a line could not hold it.
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

// add feeds text in one style. A line break in it ends the line.
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

// addCluster feeds one character beyond ASCII. A wide one is a word of its
// own, unless a sign that belongs to its neighbour is involved.
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

// endWord puts the pending word on the line, or on the next one.
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

// chop lays a word that is longer than a line over several.
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

// endLine ends the line where the text says so.
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

// copy returns a wrapper that can be fed without touching this one.
func (w *wrapper) copy() *wrapper {
	c := *w
	c.lines = nil
	c.line = append([]span(nil), w.line...)
	c.word = append([]span(nil), w.word...)
	c.space = append([]span(nil), w.space...)
	return &c
}

// asciiWord is the length of the run of printable ASCII that text begins
// with; a last character that may take part in a joined one is left out.
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

// closing reports signs that must not begin a line.
func closing(r rune) bool {
	return strings.ContainsRune("、。，．・：；？！）］｝」』】〉》〕〗’”…ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々", r)
}

// opening reports signs that must not end a line.
func opening(r rune) bool { return strings.ContainsRune("（［｛「『【〈《〔〖", r) }
