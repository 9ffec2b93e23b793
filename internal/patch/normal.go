package patch

import (
	"strings"
	"unicode/utf8"
)

// A normal is a text in a common form with a map to the original: from[i] is
// the offset in the original of the piece that byte i of text came from, and
// from[len(text)] is the original's length. Bytes of one piece share an offset.
type normal struct {
	text string
	from []int
}

// back returns the original span for a span of the normal text. ok is false if
// it would begin or end inside a piece.
func (n normal) back(s span) (span, bool) {
	if s.start > 0 && n.from[s.start] == n.from[s.start-1] {
		return span{}, false
	}
	if s.end < len(n.text) && n.from[s.end] == n.from[s.end-1] {
		return span{}, false
	}
	return span{n.from[s.start], n.from[s.end]}, true
}

func (n normal) find(old string) []span {
	var spans []span
	for _, s := range substrings(n.text, old) {
		if b, ok := n.back(s); ok {
			spans = append(spans, b)
		}
	}
	return spans
}

// findWhitespace treats every run of spaces and tabs as one space. A match ends
// in such a run only as far as old itself does.
func findWhitespace(d *document, old string) []span {
	want := collapse(old).text
	if strings.TrimSpace(want) == "" {
		return nil
	}
	return collapse(d.text).find(want)
}

func collapse(s string) normal {
	var out strings.Builder
	from := make([]int, 0, len(s)+1)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\t' {
			c = ' '
		}
		if c == ' ' && i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
			continue
		}
		out.WriteByte(c)
		from = append(from, i)
	}
	return normal{out.String(), append(from, len(s))}
}

// findUnicode treats typographic characters as their ASCII equivalents, first
// in passages and then line by line without the whitespace around them.
func findUnicode(d *document, old string) []span {
	if ascii(old) && ascii(d.text) {
		return nil // nothing to normalise: the earlier strategies covered it
	}
	want := plain(old).text
	if spans := plain(d.text).find(want); len(spans) > 0 {
		return spans
	}
	return wholeLines(d, old, plainTrimmed)
}

func plainTrimmed(s string) string { return strings.TrimSpace(plain(s).text) }

// plain replaces typographic characters by ASCII, and bytes that are not UTF-8
// by the replacement character that the model saw in their place.
func plain(s string) normal {
	if ascii(s) {
		return normal{s, nil}.identity()
	}
	var out strings.Builder
	from := make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := plainRune(r)
		if piece == "" {
			piece = s[i : i+size]
		}
		out.WriteString(piece)
		for range len(piece) {
			from = append(from, i)
		}
		i += size
	}
	return normal{out.String(), append(from, len(s))}
}

func (n normal) identity() normal {
	n.from = make([]int, len(n.text)+1)
	for i := range n.from {
		n.from[i] = i
	}
	return n
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// plainRune returns the ASCII equivalent of r, or "" for a rune that stays.
func plainRune(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u02bc', '\uff07':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\uff02':
		return `"`
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212', '\ufe58', '\ufe63', '\uff0d':
		return "-"
	case '\u2026':
		return "..."
	case '\u00a0', '\u1680', '\u202f', '\u205f', '\u3000':
		return " "
	case utf8.RuneError:
		return "\ufffd"
	}
	if '\u2000' <= r && r <= '\u200a' {
		return " "
	}
	return ""
}
