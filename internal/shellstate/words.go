package shellstate

import (
	"strconv"
	"strings"
)

// isName reports whether export accepts a name. It also allows the brackets of
// Windows' variables.
func isName(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && r != '(' && r != ')' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// wordReader splits shell text into statements of words and removes the quotes,
// as the shell that wrote them would.
type wordReader struct {
	text string
	at   int
}

func (r *wordReader) end() bool { return r.at >= len(r.text) }

func (r *wordReader) next() byte {
	b := r.text[r.at]
	r.at++
	return b
}

// statement reads the words up to a line end outside quotes.
func (r *wordReader) statement() []string {
	var words []string
	for !r.end() {
		switch r.text[r.at] {
		case '\n':
			r.at++
			return words
		case ' ', '\t', '\r':
			r.at++
		default:
			words = append(words, r.word())
		}
	}
	return words
}

func (r *wordReader) word() string {
	var b strings.Builder
	for !r.end() {
		switch c := r.next(); c {
		case ' ', '\t', '\r', '\n':
			r.at--
			return b.String()
		case '\'':
			r.single(&b)
		case '"':
			r.double(&b)
		case '\\':
			if !r.end() {
				b.WriteByte(r.next())
			}
		case '$':
			if !r.end() && r.text[r.at] == '\'' {
				r.at++
				r.escaped(&b)
				continue
			}
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func (r *wordReader) single(b *strings.Builder) {
	for !r.end() {
		c := r.next()
		if c == '\'' {
			return
		}
		b.WriteByte(c)
	}
}

func (r *wordReader) double(b *strings.Builder) {
	for !r.end() {
		switch c := r.next(); {
		case c == '"':
			return
		case c == '\\' && !r.end() && strings.IndexByte("\"\\$`\n", r.text[r.at]) >= 0:
			if c := r.next(); c != '\n' {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
		}
	}
}

// escaped reads the rest of $'…'.
func (r *wordReader) escaped(b *strings.Builder) {
	for !r.end() {
		switch c := r.next(); {
		case c == '\'':
			return
		case c == '\\' && !r.end():
			r.escape(b)
		default:
			b.WriteByte(c)
		}
	}
}

func (r *wordReader) escape(b *strings.Builder) {
	c := r.next()
	switch c {
	case 'x':
		b.WriteByte(byte(r.number(16, 2)))
	case 'u':
		b.WriteRune(rune(r.number(16, 4)))
	case 'U':
		b.WriteRune(rune(r.number(16, 8)))
	case '0', '1', '2', '3', '4', '5', '6', '7':
		r.at--
		b.WriteByte(byte(r.number(8, 3)))
	default:
		const from, to = `abeEfnrtv`, "\a\b\x1b\x1b\f\n\r\t\v"
		if i := strings.IndexByte(from, c); i >= 0 {
			c = to[i]
		}
		b.WriteByte(c)
	}
}

// number reads up to so many digits.
func (r *wordReader) number(base, digits int) uint64 {
	begin := r.at
	for r.at < len(r.text) && r.at-begin < digits {
		if _, err := strconv.ParseUint(r.text[r.at:r.at+1], base, 8); err != nil {
			break
		}
		r.at++
	}
	n, _ := strconv.ParseUint(r.text[begin:r.at], base, 64)
	return n
}
