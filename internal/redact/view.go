package redact

import (
	"sort"
	"strings"
)

// view is a text as the pass reads it. It has no control characters, terminal
// sequences and invisible characters, since they may be inside a secret. Escaped
// line breaks, tabs and quotes, which are frequent in JSON tool results, are
// decoded. It remembers where each byte came from.
type view struct {
	text string
	// jumps say that from text offset at on, the origin is offset+shift.
	jumps []jump
	// held is where an unfinished sequence at the end of the origin begins.
	held int
}

type jump struct{ at, shift int }

func newView(s string, final bool) view {
	v := view{text: s, held: len(s)}
	var b strings.Builder
	start := 0 // of the stretch not copied yet
	for i := 0; i < len(s); {
		if !specialByte[s[i]] {
			i++
			continue
		}
		put, size, whole := decode(s[i:])
		if !whole && !final {
			v.held = i
			break
		}
		if size == 0 || put == s[i:i+size] {
			i += max(size, 1)
			continue
		}
		if v.jumps == nil {
			b.Grow(len(s))
		}
		b.WriteString(s[start:i])
		b.WriteString(put)
		i += size
		start = i
		v.jumps = append(v.jumps, jump{at: b.Len(), shift: i - b.Len()})
	}
	if v.jumps == nil {
		v.text = s[:v.held]
		return v
	}
	b.WriteString(s[start:max(start, v.held)])
	v.text = b.String()
	return v
}

// back converts an offset of the text to one of the origin.
func (v view) back(at int) int {
	n := sort.Search(len(v.jumps), func(i int) bool { return v.jumps[i].at > at })
	if n == 0 {
		return at
	}
	return at + v.jumps[n-1].shift
}

// into converts an offset of the origin to one of the text.
func (v view) into(at int) int {
	n := sort.Search(len(v.jumps), func(i int) bool { return v.jumps[i].at+v.jumps[i].shift > at })
	if n == 0 {
		return min(at, len(v.text))
	}
	return min(at-v.jumps[n-1].shift, len(v.text))
}

// specialByte marks the bytes at which decode must look.
var specialByte = func() (t [256]bool) {
	for c := range 0x20 {
		t[c] = c != '\n' && c != '\t'
	}
	t[0x7f], t['\\'] = true, true
	t[0xc2], t[0xe2], t[0xef] = true, true, true // soft hyphen and C1, zero-widths, byte order mark
	return t
}()

func invisible(r rune) bool {
	return r == 0xad || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2060 && r <= 0x2064 || r == 0xfeff
}

// decode returns the view's text for the beginning of s, and how many bytes of s
// it covers; 0 means that the first byte is an ordinary one. whole is false if s
// ends within a possible sequence.
func decode(s string) (put string, size int, whole bool) {
	switch c := s[0]; {
	case c == '\\':
		return decodeEscape(s)
	case c == 0x1b:
		return decodeTerminal(s)
	case c < 0x20 || c == 0x7f:
		return "", 1, true
	}
	for i, r := range s {
		if i > 0 {
			break
		}
		if r == 0xfffd && len(s) < 3 {
			return "", 0, false
		}
		if invisible(r) || r >= 0x80 && r < 0xa0 {
			return "", len(string(r)), true
		}
	}
	return "", 0, true
}

func decodeEscape(s string) (string, int, bool) {
	const deep = 16 // backslashes that nested JSON may pile up
	n := 0
	for n < len(s) && s[n] == '\\' && n < deep {
		n++
	}
	if n == len(s) {
		return "", 0, false
	}
	switch s[n] {
	case 'n', 'r':
		return "\n", n + 1, true
	case 't':
		return "\t", n + 1, true
	case '"', '\'':
		return s[n : n+1], n + 1, true
	case 'u':
		if len(s) < n+5 {
			return "", 0, false
		}
		if s[n+1:n+5] == "0026" {
			return "&", n + 5, true
		}
	}
	return s[:n], n, true
}

// decodeTerminal measures a CSI, OSC or two-byte escape sequence.
func decodeTerminal(s string) (string, int, bool) {
	const bound = 256 // nothing longer is a sequence
	if len(s) < 2 {
		return "", 1, false
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s) && i < bound; i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return "", i + 1, true
			}
			if s[i] < 0x20 {
				return "", 2, true
			}
		}
		return "", 2, len(s) >= bound
	case ']':
		for i := 2; i < len(s) && i < bound; i++ {
			if s[i] == 0x07 {
				return "", i + 1, true
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return "", i + 2, true
			}
		}
		return "", 2, len(s) >= bound
	}
	if s[1] >= 0x40 && s[1] <= 0x5f {
		return "", 2, true
	}
	return "", 1, true
}
