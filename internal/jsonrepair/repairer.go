package jsonrepair

import "fmt"

// expect is what may come next in the innermost open object or array.
type expect int

const (
	firstKey   expect = iota // after {
	key                      // after a comma in an object
	colon                    // after a key
	value                    // after a colon
	firstValue               // after [, and at the start of the text
	nextValue                // after a comma in an array
	comma                    // after a value
)

// repairer walks once over broken JSON and writes what it can keep. It does not
// recurse: the depth of the input costs heap, not stack.
type repairer struct {
	in   []byte
	pos  int
	out  []byte
	open []byte // the closing brackets still missing, innermost last
	want expect
}

// run reports whether the whole input made sense.
func (m *repairer) run() bool {
	m.want = firstValue
	for {
		m.skipBlank()
		if m.pos == len(m.in) {
			return m.finish()
		}
		if m.done() {
			return m.rest()
		}
		if !m.step() {
			return false
		}
	}
}

// done reports whether one whole value has been written.
func (m *repairer) done() bool { return len(m.open) == 0 && len(m.out) > 0 }

// rest checks what follows a whole value: extra closing brackets, an extra comma,
// or another object.
func (m *repairer) rest() bool {
	for ; m.pos < len(m.in); m.pos++ {
		switch m.in[m.pos] {
		case '}', ']', ',', ' ', '\t', '\n', '\r':
		case '{':
			return m.out[0] == '{'
		default:
			return false
		}
	}
	return true
}

// finish closes what the input left open.
func (m *repairer) finish() bool {
	if m.want == colon || m.want == value {
		return false // a key without a value
	}
	for len(m.open) > 0 {
		m.close()
	}
	return len(m.out) > 0
}

// step reads one token.
func (m *repairer) step() bool {
	c := m.in[m.pos]
	switch {
	case c == '}' || c == ']':
		return m.closer(c)
	case c == ',':
		return m.comma()
	case c == ':':
		m.pos++
		ok := m.want == colon
		m.want = value
		m.out = append(m.out, ':')
		return ok
	case m.want == colon || m.want == comma:
		return false
	}
	m.separate()
	if m.want == firstKey || m.want == key {
		m.want = colon
		return c == '"' && m.str()
	}
	return m.value(c)
}

// separate writes the comma that was held back until something follows it.
func (m *repairer) separate() {
	if m.want == key || m.want == nextValue {
		m.out = append(m.out, ',')
	}
}

func (m *repairer) value(c byte) bool {
	switch c {
	case '{', '[':
		if len(m.open) == maxDepth {
			return false
		}
		m.pos++
		m.out = append(m.out, c)
		m.open = append(m.open, c+2) // in ASCII each closing bracket is two after its opening one
		m.want = firstKey
		if c == '[' {
			m.want = firstValue
		}
		return true
	case '"':
		m.want = comma
		return m.str()
	}
	m.want = comma
	return m.word()
}

// comma holds a comma back: it is written only if a value follows.
func (m *repairer) comma() bool {
	m.pos++
	if m.want != comma {
		return false
	}
	m.want = key
	if m.open[len(m.open)-1] == ']' {
		m.want = nextValue
	}
	return true
}

// closer closes the innermost bracket of its kind, and every bracket that is open
// inside it. One without an opening bracket is dropped.
func (m *repairer) closer(c byte) bool {
	m.pos++
	if m.want == colon || m.want == value {
		return false // a key without a value
	}
	if len(m.out) == 0 {
		return false // the end of something whose beginning is missing
	}
	unclosed := len(m.open) - 1
	for unclosed >= 0 && m.open[unclosed] != c {
		unclosed--
	}
	for unclosed >= 0 && len(m.open) > unclosed {
		m.close()
	}
	return true
}

func (m *repairer) close() {
	last := len(m.open) - 1
	m.out = append(m.out, m.open[last])
	m.open = m.open[:last]
	m.want = comma
}

// str copies a string and escapes the control characters in it. A string
// without an end fails.
func (m *repairer) str() bool {
	m.out = append(m.out, '"')
	for m.pos++; m.pos < len(m.in); m.pos++ {
		switch c := m.in[m.pos]; {
		case c == '"':
			m.pos++
			m.out = append(m.out, '"')
			return true
		case c == '\\':
			if m.pos++; m.pos == len(m.in) {
				return false
			}
			m.out = append(m.out, '\\', m.in[m.pos])
			if m.in[m.pos] < ' ' {
				return false // an unknown escape
			}
		case c < ' ':
			m.control(c)
		default:
			m.out = append(m.out, c)
		}
	}
	return false
}

func (m *repairer) control(c byte) {
	switch c {
	case '\n':
		m.out = append(m.out, `\n`...)
	case '\r':
		m.out = append(m.out, `\r`...)
	case '\t':
		m.out = append(m.out, `\t`...)
	default:
		m.out = fmt.Appendf(m.out, `\u%04x`, c)
	}
}

// word copies a number or a literal word; the caller checks the whole result,
// so that a number need not be parsed here.
func (m *repairer) word() bool {
	start := m.pos
	for m.pos < len(m.in) && isWord(m.in[m.pos]) {
		m.pos++
	}
	switch w := string(m.in[start:m.pos]); w {
	case "":
		return false
	case "True":
		m.out = append(m.out, "true"...)
	case "False":
		m.out = append(m.out, "false"...)
	case "None":
		m.out = append(m.out, "null"...)
	default:
		m.out = append(m.out, w...)
	}
	return true
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func (m *repairer) skipBlank() {
	for m.pos < len(m.in) {
		switch m.in[m.pos] {
		case ' ', '\t', '\n', '\r':
			m.pos++
		default:
			return
		}
	}
}
