package recallblock

import "strings"

// maxBlanks bounds the blanks between an opening tag and its line break, in
// bytes, so that little is ever held back.
const maxBlanks = 32

// Scrubber removes memory-context blocks from a stream of text. The zero value
// is ready. It is not for concurrent use.
type Scrubber struct {
	held   string // what may yet turn out to be a tag
	inside bool   // within a block
	closed bool   // a block has just ended: its line break goes with it
	middle bool   // outside of a block, past the start of a line
}

// Feed takes the next piece and returns what of the text so far may be shown.
// A piece that may be the beginning of a tag is held back.
func (s *Scrubber) Feed(piece string) string {
	if s.idle() && s.plain(piece) {
		s.move(piece)
		return piece
	}
	s.held += piece
	var out strings.Builder
	for s.step(&out) {
	}
	return out.String()
}

// Flush ends the text: it returns what was held back and proved harmless, and
// makes the scrubber ready for another text. A block that never closed has
// swallowed the rest.
func (s *Scrubber) Flush() string {
	rest := s.held
	if s.inside {
		rest = ""
	}
	s.Reset()
	return rest
}

// Reset forgets everything, as when a text is begun anew.
func (s *Scrubber) Reset() { *s = Scrubber{} }

func (s *Scrubber) idle() bool { return s.held == "" && !s.inside && !s.closed }

// plain reports that no line of a piece can begin with a tag.
func (s *Scrubber) plain(piece string) bool {
	if !s.middle && strings.HasPrefix(piece, "<") {
		return false
	}
	return !strings.Contains(piece, "\n<")
}

// move notes where the shown text now stands.
func (s *Scrubber) move(shown string) {
	if shown != "" {
		s.middle = !strings.HasSuffix(shown, "\n")
	}
}

// step takes one decision about what is held; false if it needs more text.
func (s *Scrubber) step(out *strings.Builder) bool {
	switch {
	case s.inside:
		return s.leave()
	case s.held == "":
		return false
	case s.closed:
		return s.endLine()
	case s.middle:
		s.show(out, lineEnd(s.held))
		return true
	}
	switch n, sure := opens(s.held); {
	case !sure:
		return false
	case n > 0:
		s.held, s.inside = s.held[n:], true
	default:
		s.show(out, lineEnd(s.held))
	}
	return true
}

// leave looks for the end of a block.
func (s *Scrubber) leave() bool {
	at := index(s.held, closing)
	if at < 0 { // a piece of the tag may be there already
		s.held = s.held[max(0, len(s.held)-len(closing)+1):]
		return false
	}
	s.held = s.held[at+len(closing):]
	s.inside, s.closed = false, true
	return true
}

// endLine drops the line break after a block.
func (s *Scrubber) endLine() bool {
	if s.held == "\r" {
		return false
	}
	s.held = strings.TrimPrefix(strings.TrimPrefix(s.held, "\r"), "\n")
	s.closed = false
	return true
}

func (s *Scrubber) show(out *strings.Builder, n int) {
	out.WriteString(s.held[:n])
	s.move(s.held[:n])
	s.held = s.held[n:]
}

// lineEnd is where the next line begins, or the end of the text.
func lineEnd(text string) int {
	if at := strings.IndexByte(text, '\n'); at >= 0 {
		return at + 1
	}
	return len(text)
}

// opens tells how many bytes at the start of a line open a block, 0 if none
// do. Not sure means that more text decides.
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
