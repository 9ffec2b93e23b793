// Package ansi turns what a program writes to a terminal into plain text: without control
// sequences, and with the last state of a line that was overwritten. Start at strip.go.
package ansi

// longestString is the length at which an unterminated string sequence is given up.
const longestString = 4 << 10

// Stripper removes ECMA-48 sequences and control characters from a stream,
// wherever its pieces are cut. Line ends, carriage returns and tabs stay, and so
// do brackets without an escape before them. Going back to the first column
// becomes a carriage return, and erasing a line becomes the mark erased.
type Stripper struct {
	state  stripState
	length int  // of the string sequence
	params int  // of the control sequence: its number, -1 if it has another form
	last   byte // of the text of earlier pieces
	need   int  // bytes still missing of the current UTF-8 character
	lead   bool // a 0xC2 is held back: an 8-bit control may follow
	out    []byte
}

type stripState uint8

const (
	inText stripState = iota
	inEscape
	inControl // after CSI
	inString  // after OSC, DCS and similar
	inStringEscape
)

// Text returns the text of a piece. The result is valid until the next call.
func (s *Stripper) Text(p []byte) []byte {
	if n := len(s.out); n > 0 {
		s.last = s.out[n-1]
	}
	s.out = s.out[:0]
	for len(p) > 0 {
		if s.state == inText && !s.lead && s.need == 0 {
			n := ordinary(p)
			s.out = append(s.out, p[:n]...)
			if p = p[n:]; len(p) == 0 {
				break
			}
		}
		for !s.take(p[0]) { // a byte that ends a sequence may begin something else
		}
		p = p[1:]
	}
	return s.out
}

// ordinary is the length of the plain ASCII text at the start of p, which most
// output is.
func ordinary(p []byte) int {
	for i, b := range p {
		if b < ' ' && b != '\n' || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

// take handles one byte. It returns false if the state changed and the byte must
// be handled again.
func (s *Stripper) take(b byte) bool {
	switch s.state {
	case inEscape:
		return s.escape(b)
	case inControl:
		switch {
		case b >= 0x20 && b <= 0x3f:
			s.param(b)
		case b >= 0x40 && b <= 0x7e:
			s.state = inText
			s.move(b)
		default:
			s.state = inText
			return false
		}
	case inString:
		s.length++
		switch {
		case b == 0x07:
			s.state = inText
		case b == 0x1b:
			s.state = inStringEscape
		case b == '\n' || s.length > longestString:
			s.state = inText
			return false
		}
	case inStringEscape:
		s.state = inText
		if b != '\\' {
			s.state = inEscape
			return false
		}
	default:
		s.plain(b)
	}
	return true
}

// param takes a byte before the end of a control sequence.
func (s *Stripper) param(b byte) {
	if b < '0' || b > '9' || s.params > 99 {
		s.params = -1
	}
	if s.params >= 0 {
		s.params = 10*s.params + int(b-'0')
	}
}

// move keeps what a control sequence does to the line.
func (s *Stripper) move(final byte) {
	last := s.last
	if n := len(s.out); n > 0 {
		last = s.out[n-1]
	}
	switch {
	case final == 'G' && (s.params == 0 || s.params == 1):
		s.out = append(s.out, '\r')
	case final == 'K' && (s.params == 2 || s.params == 0 && last == '\r'):
		s.out = append(s.out, erased)
	}
}

func (s *Stripper) escape(b byte) bool {
	s.state = inText
	switch {
	case b == '[':
		s.state, s.params = inControl, 0
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		s.state, s.length = inString, 0
	case b >= 0x20 && b <= 0x2f: // more bytes follow
		s.state = inEscape
	case b >= 0x30 && b <= 0x7e:
	default:
		return false
	}
	return true
}

func (s *Stripper) plain(b byte) {
	if s.lead {
		s.lead = false
		if b >= 0x80 && b <= 0x9f {
			s.control(b)
			return
		}
		s.out = append(s.out, 0xc2)
		s.need = 1
	}
	switch {
	case b == 0x1b:
		s.state, s.need = inEscape, 0
	case b == '\n' || b == '\t' || b == '\r' || b >= ' ' && b < 0x7f:
		s.need = 0
		s.out = append(s.out, b)
	case b < ' ' || b == 0x7f:
		s.need = 0
	case b == 0xc2:
		s.lead, s.need = true, 0
	case b >= 0xc0:
		s.need = 1
		if b >= 0xe0 {
			s.need = 2
		}
		if b >= 0xf0 {
			s.need = 3
		}
		s.out = append(s.out, b)
	case s.need > 0:
		s.need--
		s.out = append(s.out, b)
	case b <= 0x9f:
		s.control(b)
	default:
		s.out = append(s.out, b)
	}
}

// control handles an 8-bit control character.
func (s *Stripper) control(b byte) {
	switch b {
	case 0x9b:
		s.state, s.params = inControl, 0
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.state, s.length = inString, 0
	}
}

// Plain is a single piece of output without escape sequences.
func Plain(b []byte) string {
	var s Stripper
	return Readable(string(s.Text(b)))
}
