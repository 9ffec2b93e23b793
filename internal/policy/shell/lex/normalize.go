package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize returns a line as it looks on a screen: without terminal sequences,
// control and invisible characters and line continuations, and with letters in
// their plain form. A plain line is returned unchanged.
func Normalize(line string) string {
	if isPlain(line) {
		return line
	}
	line = stripSequences(line)
	line = strings.ReplaceAll(line, "\\\r\n", "")
	line = strings.ReplaceAll(line, "\\\n", "")
	var b strings.Builder
	for _, r := range line {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u034f', r == '\u115f', r == '\u1160', r == '\u3164', r >= 0xfe00 && r <= 0xfe0f:
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteString(compatible(r))
		}
	}
	return b.String()
}

func isPlain(line string) bool {
	for i := range len(line) {
		c := line[i]
		if c >= 0x7f || c < ' ' && c != '\n' && c != '\t' || c == '\\' && i+1 < len(line) && line[i+1] == '\n' {
			return false
		}
	}
	return true
}

// compatible returns the plain form of a letter: of full-width, mathematical,
// circled and small forms, and of ligatures.
func compatible(r rune) string {
	switch {
	case r < 0x80:
		return string(r)
	case r >= 0xff01 && r <= 0xff5e:
		return string(r - 0xff01 + '!')
	case r >= 0x1d400 && r <= 0x1d6a3: // thirteen alphabets, one after another
		at := (r - 0x1d400) % 52
		if at < 26 {
			return string('A' + at)
		}
		return string('a' + at - 26)
	case r >= 0x1d7ce && r <= 0x1d7ff:
		return string('0' + (r-0x1d7ce)%10)
	case r >= 0x24b6 && r <= 0x24cf:
		return string('A' + r - 0x24b6)
	case r >= 0x24d0 && r <= 0x24e9:
		return string('a' + r - 0x24d0)
	}
	const from = "ªºⁱⁿ⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻₀₁₂₃₄₅₆₇₈₉ſℎℓℯℊℴ℮ⅰⅴⅹⅼⅽⅾⅿˢʳˡʰʷʲʸˣ﹩﹪﹫﹨﹣﹥﹤﹠﹡﹢∕⁄∗−‐‑"
	const to = "aoin0123456789+-0123456789shlegoeivxlcdmsrlhwjyx$%@\\-><&*+//*---"
	if at := strings.IndexRune(from, r); at >= 0 {
		return string(to[utf8.RuneCountInString(from[:at])])
	}
	switch r {
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬅ', 'ﬆ':
		return "st"
	}
	return string(r)
}

// stripSequences removes ECMA-48 sequences, also those with 8-bit introducers.
func stripSequences(s string) string {
	if !strings.ContainsAny(s, "\x1b\u0090\u0098\u009b\u009d\u009e\u009f") && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		kind, width := introducer(s[i:])
		switch kind {
		case 0:
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			i += size
		case '[':
			i += width
			for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
				i++
			}
			if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
				i++
			}
		case ']':
			i += width + stringEnd(s[i+width:])
		default:
			i += width
		}
	}
	return b.String()
}

// introducer returns the kind of sequence that s begins with: '[' for a control
// sequence, ']' for a string, another byte for a short one, 0 for none.
func introducer(s string) (kind byte, width int) {
	if s[0] == 0x1b {
		if len(s) == 1 {
			return 'x', 1
		}
		switch s[1] {
		case '[':
			return '[', 2
		case ']', 'P', 'X', '^', '_':
			return ']', 2
		}
		if s[1] >= 0x20 && s[1] <= 0x7e {
			return 'x', 2
		}
		return 'x', 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		r = rune(s[0])
	}
	switch r {
	case 0x9b:
		return '[', size
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		return ']', size
	}
	return 0, 0
}

// stringEnd is the length of a string with its terminator, 0 if it is
// unterminated and so not a string.
func stringEnd(s string) int {
	for i := range len(s) {
		switch {
		case s[i] == 0x07:
			return i + 1
		case s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\':
			return i + 2
		case s[i] == 0x9c || s[i] == '\n':
			return i + 1
		}
	}
	return 0
}
