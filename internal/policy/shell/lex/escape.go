package lex

import (
	"strconv"
	"strings"
)

// Unescape removes backslashes as the shell does.
func Unescape(s string, quoted bool) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch {
		case s[i] == '\n':
		case quoted && strings.IndexByte("\"\\$`", s[i]) < 0:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// AnsiC reads the escapes of $'…', which a zero byte ends. Escapes that it does
// not know are unknown; other control characters look alike.
func AnsiC(s string) (text string, ended bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		digits, base := 0, 16
		switch c := s[i]; {
		case c == 'c' || c == 'x' && strings.HasPrefix(s[i+1:], "{"):
			b.WriteString(Unknown)
		case c == 'x':
			digits = 2
		case c == 'u':
			digits = 4
		case c == 'U':
			digits = 8
		case c >= '0' && c <= '7':
			digits, base = 3, 8
			i--
		case c == 'n':
			b.WriteByte('\n')
		case c == 't' || c == 'r':
			b.WriteByte('\t')
		default:
			b.WriteByte(c)
		}
		if digits == 0 {
			continue
		}
		end := i + 1
		for end < len(s) && end-i-1 < digits && isDigit(s[end], base) {
			end++
		}
		switch n, err := strconv.ParseUint(s[i+1:end], base, 32); {
		case err != nil:
		case n == 0:
			return b.String(), true
		case n >= ' ' || n == '\n' || n == '\t':
			b.WriteRune(rune(n))
		default:
			b.WriteByte(0x7f)
		}
		i = end - 1
	}
	return b.String(), false
}

func isDigit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// IsLetter reports whether a byte is an ASCII letter or an underscore.
func IsLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
