package terminal

// longestString is where a string sequence that never ends is given up.
const longestString = 4 << 10

// stripper takes ECMA-48 sequences and control characters out of a stream,
// wherever its pieces are cut. Line ends, carriage returns and tabs stay; so
// do brackets that no escape stands before.
type stripper struct {
	state  stripState
	length int  // of the string sequence
	need   int  // bytes that the current UTF-8 character still wants
	lead   bool // a 0xC2 is held back: an 8-bit control may follow
	out    []byte
}

type stripState uint8

const (
	inText stripState = iota
	inEscape
	inControl // after CSI
	inString  // after OSC, DCS and their kin
	inStringEscape
)

// text returns what of a piece is text. The result holds until the next call.
func (s *stripper) text(p []byte) []byte {
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

// ordinary is the length of the plain ASCII text that p begins with: most of
// what is printed.
func ordinary(p []byte) int {
	for i, b := range p {
		if b < ' ' && b != '\n' || b >= 0x7f {
			return i
		}
	}
	return len(p)
}

// take handles one byte; false means that the state has changed and the byte
// must be looked at again.
func (s *stripper) take(b byte) bool {
	switch s.state {
	case inEscape:
		return s.escape(b)
	case inControl:
		switch {
		case b >= 0x20 && b <= 0x3f:
		case b >= 0x40 && b <= 0x7e:
			s.state = inText
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

func (s *stripper) escape(b byte) bool {
	s.state = inText
	switch {
	case b == '[':
		s.state = inControl
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		s.state, s.length = inString, 0
	case b >= 0x20 && b <= 0x2f: // more is to come
		s.state = inEscape
	case b >= 0x30 && b <= 0x7e:
	default:
		return false
	}
	return true
}

func (s *stripper) plain(b byte) {
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
func (s *stripper) control(b byte) {
	switch b {
	case 0x9b:
		s.state = inControl
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		s.state, s.length = inString, 0
	}
}
