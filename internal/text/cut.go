package text

import (
	"strings"
	"unicode/utf8"
)

// Prefix returns at most the first n bytes of a text, without splitting a character.
func Prefix(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip cuts a text after at most n bytes, at the end of a character, and marks the cut
// with "…". What is cut is valid UTF-8.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Short cuts a text after n characters and marks the cut with "…".
func Short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// Cut bounds a text in characters and marks the cut.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return string(runes[:most]) + " … [cut]"
}
