package markup

import "strings"

// Limits of what a stream buffers.
const (
	longParagraph = 256      // bytes after which the full lines of a paragraph are printed
	openMark      = 600      // bytes after which an opening mark is treated as text
	largeBlock    = 32 << 10 // bytes after which any block is printed as far as it is complete
)

// Stream renders Markdown while it arrives. Write returns each line once, when it is
// final; Tail shows the open rest and may be called any time. The cost is linear in
// the length of the text, even for small pieces. A Stream must be used by one
// goroutine only.
type Stream struct {
	o    Options
	open block
	src  []byte // the source of the open block, whole lines
	line []byte // the line that has not ended
	gap  bool   // a blank line in the source precedes the next block
	last kind   // the kind of the last printed block
	para *wrapper
	code *highlighter
	out  []string
	tail []string // the last result of Tail, until the next Write
}

// NewStream returns an empty stream.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Resize sets the width for what is rendered from now on.
func (s *Stream) Resize(width int) {
	s.o.Width = width
	s.tail = nil
	if s.para != nil {
		s.para.width = max(width-s.para.indent.width, 8)
	}
}

// Write adds the next piece of the text and returns the lines that are now final.
// Pieces may end anywhere, even inside a character.
func (s *Stream) Write(piece string) []string {
	s.tail = nil
	for {
		end := strings.IndexByte(piece, '\n')
		if end < 0 {
			break
		}
		s.line = append(s.line, piece[:end]...)
		s.endLine()
		piece = piece[end+1:]
	}
	s.line = append(s.line, piece...)
	s.relieve()
	return s.take()
}

// Close ends the text and returns the rest of its lines.
func (s *Stream) Close() []string {
	if len(s.line) > 0 {
		s.endLine()
	}
	s.endBlock()
	return s.take()
}

// Tail returns the open end as it looks now, after a blank line if the final text will
// have one. The caller must not change the lines.
func (s *Stream) Tail() []string {
	if s.tail != nil {
		return s.tail
	}
	t := &Stream{o: s.o, open: s.open, gap: s.gap, last: s.last}
	t.src = append([]byte(nil), s.src...)
	t.line = append([]byte(nil), s.line...)
	if s.para != nil {
		t.para = s.para.copy()
	}
	if s.code != nil {
		code := *s.code
		t.code = &code
	}
	s.tail = t.Close()
	return s.tail
}

// Pending reports whether text is buffered.
func (s *Stream) Pending() bool { return len(s.src) > 0 || len(s.line) > 0 || s.para != nil }

func (s *Stream) take() []string {
	out := s.out
	s.out = nil
	return out
}

func (s *Stream) endLine() {
	line := strings.TrimSuffix(string(s.line), "\r")
	s.line = s.line[:0]
	s.scan(line)
}

// hold adds a line to the open block.
func (s *Stream) hold(line string) {
	s.src = append(append(s.src, line...), '\n')
}

// print prints lines of one block, after a blank line if the blocks need one.
func (s *Stream) print(k kind, lines [][]span) {
	if len(lines) == 0 {
		return
	}
	if s.last != none && (k != s.last || k != item && k != fence || s.gap) {
		s.out = append(s.out, "")
	}
	s.last, s.gap = k, false
	for _, line := range lines {
		s.out = append(s.out, s.o.encode(line))
	}
}

// endBlock renders the open block and closes it.
func (s *Stream) endBlock() {
	k := s.open.kind
	src := string(s.src)
	s.src = s.src[:0]
	s.open = block{}
	switch {
	case k == fence:
		s.code = nil
		s.last = code
	case s.para != nil:
		w := s.para
		s.para = nil
		s.feed(w, src)
		s.continued(w.finish())
	case strings.TrimSpace(src) != "":
		s.print(k, s.o.renderBlock(src))
	}
}

func (s *Stream) feed(w *wrapper, src string) {
	for _, sp := range s.o.phraseSpans(src, s.o.Style) {
		w.add(sp.text, sp.style)
	}
	if strings.HasSuffix(src, " ") || strings.HasSuffix(src, "\n") {
		w.add(" ", s.o.Style)
	}
}

// continued prints further lines of a paragraph.
func (s *Stream) continued(lines [][]span) {
	for _, line := range lines {
		s.out = append(s.out, s.o.encode(line))
	}
}

// relieve prints the finished part of a very long open block.
func (s *Stream) relieve() {
	held := len(s.src) + len(s.line)
	if held < longParagraph {
		return
	}
	if head := string(s.line[:min(len(s.line), 80)]); s.open.kind == none && !begins(head) && head[0] != '\t' && indentOf(head) < 4 {
		s.open = block{kind: paragraph}
	}
	if s.open.kind == paragraph && !s.tabular() {
		s.spill(held)
		return
	}
	if held < largeBlock {
		return
	}
	if s.open.kind == fence {
		s.codeLine(string(s.line))
		s.line = s.line[:0]
		return
	}
	open := s.open
	s.hold(string(s.line))
	s.line = s.line[:0]
	s.endBlock()
	if open.kind == paragraph {
		s.open = open
	}
}

// spill prints the full lines of a long paragraph, up to a position where no code
// span, emphasis or link is open.
func (s *Stream) spill(held int) {
	text := string(s.src) + string(s.line)
	cut := safeCut(text)
	if cut == 0 && held >= largeBlock {
		cut = len(text)
	}
	if cut < longParagraph/2 {
		return
	}
	first := s.para == nil
	if first {
		s.para = newWrapper(indent{}, s.o.width())
	}
	s.feed(s.para, text[:cut])
	s.src = append(s.src[:0], text[cut:]...)
	s.line = s.line[:0]
	if end := strings.LastIndexByte(text[cut:], '\n'); end >= 0 {
		s.line = append(s.line, text[cut+end+1:]...)
		s.src = s.src[:end+1]
	} else {
		s.line = append(s.line, text[cut:]...)
		s.src = s.src[:0]
	}
	lines := s.para.takeLines()
	if first {
		s.print(paragraph, lines)
		return
	}
	s.continued(lines)
}

// safeCut returns the end of the longest part of a paragraph that can be rendered by
// itself: after a blank between two words, with nothing open. A mark that stays open
// for long counts as text.
func safeCut(text string) int {
	cut, brackets, stars, since := 0, 0, 0, 0
	code := false
	for i := 0; i+1 < len(text); i++ {
		open := code || stars != 0 || brackets != 0
		if !open {
			since = i
		} else if i-since > openMark {
			code, stars, brackets = false, 0, 0
		}
		before, after := byte(' '), text[i+1]
		if i > 0 {
			before = text[i-1]
		}
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '`':
			code = !code
		case code:
		case c == '*' || c == '~' || c == '_' && !(wordByte(before) && wordByte(after)):
			if before != ' ' || after != ' ' {
				stars ^= 1 << (c & 3)
			}
		case c == '[' || c == '<' || c == '(' && before == ']':
			brackets++
		case c == ']' || c == '>' || c == ')':
			brackets = max(brackets-1, 0)
		case c == ' ' || c == '\n':
			if stars == 0 && brackets == 0 && before != ' ' && before != '\\' && after != ' ' && after != '\n' {
				cut = i + 1
			}
		}
	}
	return cut
}
