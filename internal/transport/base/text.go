package base

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Text writes a string exactly like encoding/json, but without reflection: a long
// session is nearly all text.
func Text(b *bytes.Buffer, s string) {
	b.WriteByte('"')
	for s != "" {
		n := plainBytes(s)
		b.WriteString(s[:n])
		s = s[n:]
		if s == "" {
			break
		}
		s = s[special(b, s):]
	}
	b.WriteByte('"')
}

// plainBytes counts the bytes at the beginning that need no escape, eight at a
// time.
func plainBytes(s string) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quote, slash := w^(low*'"'), w^(low*'\\')
		// Mark bytes that are over 127, below a blank, a quote or a backslash.
		if (w|(w-low*' ')|(quote-low)|(slash-low))&high != 0 {
			break
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// special writes the first character, which needs an escape or is longer than a
// byte, and returns how many bytes it had.
func special(b *bytes.Buffer, s string) int {
	switch c := s[0]; {
	case c == '"' || c == '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
		return 1
	case c < ' ':
		b.WriteByte('\\')
		if i := strings.IndexByte("\b\f\n\r\t", c); i >= 0 {
			b.WriteByte("bfnrt"[i])
			return 1
		}
		b.WriteString("u00")
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
		return 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && n == 1:
		b.WriteString(`\ufffd`)
	case r == '\u2028' || r == '\u2029': // JavaScript reads them as line ends
		b.WriteString(`\u202`)
		b.WriteByte(hexDigits[r&15])
	default:
		b.WriteString(s[:n])
	}
	return n
}

// ObjectText is like Object, but returns a string without a copy.
func ObjectText(arguments string) string {
	if t := strings.TrimSpace(arguments); !strings.HasPrefix(t, "{") || !json.Valid([]byte(arguments)) {
		return "{}"
	}
	return arguments
}
