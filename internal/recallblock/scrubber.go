package recallblock

import "strings"

// maxBlanks limits the blanks between an opening tag and its line break, in
// bytes, so that the buffer stays small.
const maxBlanks = 32

// Scrubber removes recall blocks from a stream of text. The zero value is
// ready to use. It must not be used concurrently.
type Scrubber struct {
	buffer  string // text that may become a tag
	inBlock bool   // within a block
	closed  bool   // a block has just ended: remove its line break too
	middle  bool   // not in a block and past the start of a line
}

// Feed adds the next piece and returns the text that may be shown. Text that
// may be the beginning of a tag is buffered.
func (s *Scrubber) Feed(piece string) string {
	if s.idle() && s.plain(piece) {
		s.move(piece)
		return piece
	}
	s.buffer += piece
	var out strings.Builder
	for s.step(&out) {
	}
	return out.String()
}

// Flush ends the text. It returns the buffered rest and resets the scrubber for
// another text. The rest of a block that was not closed is dropped.
func (s *Scrubber) Flush() string {
	rest := s.buffer
	if s.inBlock {
		rest = ""
	}
	s.Reset()
	return rest
}

// Reset drops all state, for a text that starts again.
func (s *Scrubber) Reset() { *s = Scrubber{} }

func (s *Scrubber) idle() bool { return s.buffer == "" && !s.inBlock && !s.closed }

// plain reports whether no line of a piece can begin with a tag.
func (s *Scrubber) plain(piece string) bool {
	if !s.middle && strings.HasPrefix(piece, "<") {
		return false
	}
	return !strings.Contains(piece, "\n<")
}

// move records whether the shown text ends within a line.
func (s *Scrubber) move(shown string) {
	if shown != "" {
		s.middle = !strings.HasSuffix(shown, "\n")
	}
}

// step decides the next part of the buffer. It returns false if it needs more
// text.
func (s *Scrubber) step(out *strings.Builder) bool {
	switch {
	case s.inBlock:
		return s.endBlock()
	case s.buffer == "":
		return false
	case s.closed:
		return s.endLine()
	case s.middle:
		s.show(out, lineEnd(s.buffer))
		return true
	}
	switch n, sure := opens(s.buffer); {
	case !sure:
		return false
	case n > 0:
		s.buffer, s.inBlock = s.buffer[n:], true
	default:
		s.show(out, lineEnd(s.buffer))
	}
	return true
}

// endBlock looks for the end of a block.
func (s *Scrubber) endBlock() bool {
	at := index(s.buffer, closing)
	if at < 0 { // a part of the tag may be there already
		s.buffer = s.buffer[max(0, len(s.buffer)-len(closing)+1):]
		return false
	}
	s.buffer = s.buffer[at+len(closing):]
	s.inBlock, s.closed = false, true
	return true
}

// endLine removes the line break after a block.
func (s *Scrubber) endLine() bool {
	if s.buffer == "\r" {
		return false
	}
	s.buffer = strings.TrimPrefix(strings.TrimPrefix(s.buffer, "\r"), "\n")
	s.closed = false
	return true
}

func (s *Scrubber) show(out *strings.Builder, n int) {
	out.WriteString(s.buffer[:n])
	s.move(s.buffer[:n])
	s.buffer = s.buffer[n:]
}

// lineEnd returns where the next line begins, or the end of the text.
func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at + 1
	}
	return len(text)
}

// opens returns how many bytes at the start of a line open a block, 0 if none
// do. If sure is false, it needs more text.
func opens(text string) (n int, sure bool) {
	have := min(len(text), len(opening))
	if !strings.EqualFold(text[:have], opening[:have]) {
		return 0, true
	}
	if have < len(opening) {
		return 0, false
	}
	rest := strings.TrimLeft(text[have:], " \t\r")
	blanks := len(text) - have - len(rest)
	switch {
	case blanks > maxBlanks:
		return 0, true
	case rest == "":
		return 0, false
	case rest[0] == '\n':
		return have + blanks + 1, true
	}
	return 0, true
}
