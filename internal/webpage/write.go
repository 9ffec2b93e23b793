package webpage

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
)

// sub converts a node to text within a line.
func (w *writer) sub(n *html.Node) string {
	s := &writer{max: w.max - w.out.Len(), base: w.base, deep: w.deep + 1, drop: w.drop}
	s.children(n)
	text, cut := s.text()
	w.full = w.full || cut && len(text) >= w.max-w.out.Len()
	return text
}

// open requests gap line breaks before the next text. There are none between the
// mark of an item and its first words.
func (w *writer) open(gap int) {
	if w.mark == "" {
		w.gap = max(w.gap, gap)
	}
	w.blank = false
}

// breakLine ends the line within a block.
func (w *writer) breakLine() {
	if w.out.Len() > 0 && w.gap == 0 {
		w.open(1)
	}
}

// words writes running text with whitespace collapsed.
func (w *writer) words(text string) {
	text = visible(text)
	fields := strings.Fields(text)
	if len(fields) == 0 {
		w.blank = w.blank || text != ""
		return
	}
	w.blank = w.blank || strings.TrimLeftFunc(text, unicode.IsSpace) != text
	w.write(strings.Join(fields, " "))
	w.blank = strings.TrimRightFunc(text, unicode.IsSpace) != text
}

// write writes part of a line after pending breaks and marks.
func (w *writer) write(text string) {
	if text == "" || w.full {
		return
	}
	w.begin()
	if w.blank && !w.lineStart() {
		w.put(" ")
	}
	w.blank = false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i > 0 {
			w.gap = 1
			w.begin()
		}
		w.put(line)
	}
}

// verbatimLine writes a line unchanged, even an empty one.
func (w *writer) verbatimLine(line string) {
	if w.full {
		return
	}
	w.begin()
	w.put(line)
	w.blank = false
	if line == "" {
		w.gap = 0
	}
}

// begin writes pending line breaks and the beginning of the new line.
func (w *writer) begin() {
	if w.out.Len() == 0 {
		w.startLine(w.gap > 0 || w.out.Len() == 0)
		w.gap = 0
		return
	}
	if w.gap == 0 {
		if w.mark != "" {
			w.put(w.mark)
			w.mark = ""
		}
		return
	}
	for i := range w.gap {
		w.put("\n")
		if i < w.gap-1 {
			w.put(strings.TrimRight(strings.Join(common(w.quoted, w.quotes()), ""), " "))
		}
	}
	w.gap = 0
	w.startLine(true)
}

// common returns the common prefix of two lists.
func common(a, b []string) []string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// quotes returns the prefixes that empty lines have, too.
func (w *writer) quotes() []string {
	for i := len(w.prefix) - 1; i >= 0; i-- {
		if strings.HasPrefix(w.prefix[i], ">") {
			return w.prefix[:i+1]
		}
	}
	return nil
}

func (w *writer) startLine(fresh bool) {
	if !fresh {
		return
	}
	prefix := w.prefix
	if n := len(prefix); n > 0 && w.mark != "" && len(strings.TrimLeft(w.mark, "#")) == len(w.mark) {
		prefix = prefix[:n-1] // the mark of an item replaces its indent
	}
	w.put(strings.Join(prefix, ""))
	w.put(w.mark)
	w.mark = ""
	w.quoted = append(w.quoted[:0], w.quotes()...)
}

func (w *writer) lineStart() bool {
	s := w.out.String()
	return s == "" || s[len(s)-1] == '\n' || s[len(s)-1] == ' '
}

func (w *writer) put(text string) {
	if w.full {
		return
	}
	if free := w.max - w.out.Len(); len(text) > free {
		text, _ = clip(text, free)
		w.full = true
	}
	w.out.WriteString(text)
}

// text returns the written text, and whether it was cut.
func (w *writer) text() (string, bool) { return strings.TrimSpace(w.out.String()), w.full }
