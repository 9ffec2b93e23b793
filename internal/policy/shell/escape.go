package shell

import (
	"strconv"
	"strings"
)

// unescape removes backslashes as the shell does.
func unescape(s string, quoted bool) string {
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

// ansiC reads the escapes of $'…', which a zero byte ends. Escapes that it does
// not know are unknown; other control characters look alike.
func ansiC(s string) (text string, ended bool) {
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
			b.WriteString(unknown)
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

// program returns the name of a program in lower case, without its folder.
func program(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	if plain, ok := strings.CutPrefix(name, "g"); ok && within(gnuNames, plain) {
		return plain
	}
	return name
}

// gnuNames are the GNU programs that macOS and the BSDs call with a g before the
// name.
const gnuNames = "cat chgrp chmod chown cp dd env find head install kill ln ls mkdir mv nice nohup rm rmdir sed shred split stat stdbuf tail tar tee timeout touch truncate unlink xargs"
