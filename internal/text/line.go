package text

import (
	"strings"
	"unicode"
)

// OneLine replaces line breaks and other control characters by spaces, so that a name
// of a file or a command forges no lines. A longer text is cut after "most" characters.
func OneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
