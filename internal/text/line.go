package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// Line joins a text to one line without control characters, of at most this many
// characters, one or more. A cut is marked with "…", which counts.
func Line(s string, most int) string {
	apart := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), apart), " ")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most-1])) + "…"
}
