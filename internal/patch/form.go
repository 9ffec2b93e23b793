package patch

import (
	"strings"
	"unicode/utf8"
)

// A form says how a text reads once it is normalised. Both methods take off one
// piece, next at the start of a text that is not empty and last at its end, and
// return its normal text and its size in bytes. A piece is never split.
type form interface {
	next(text string) (piece string, size int)
	last(text string) (piece string, size int)
}

// literal is the form of the text itself.
type literal struct{}

func (literal) next(s string) (string, int) { return s[:1], 1 }
func (literal) last(s string) (string, int) { return s[len(s)-1:], 1 }

// blanks is the form in which every run of spaces and tabs is one space.
type blanks struct{}

func (blanks) next(s string) (string, int) {
	n := 0
	for n < len(s) && blank(s[n]) {
		n++
	}
	if n > 0 {
		return " ", n
	}
	return s[:1], 1
}

func (blanks) last(s string) (string, int) {
	n := 0
	for n < len(s) && blank(s[len(s)-1-n]) {
		n++
	}
	if n > 0 {
		return " ", n
	}
	return s[len(s)-1:], 1
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// typography is the form in which typographic characters are their ASCII
// equivalents. A dash has several, so em and en hold those of the long ones.
// Bytes that are not UTF-8 are the replacement character that the model saw in
// their place.
type typography struct{ em, en string }

// typographies lists the ways in which texts write dashes in ASCII. The first
// one serves texts without long dashes.
var typographies = []*typography{{"-", "-"}, {"--", "-"}, {"---", "--"}, {"--", "--"}}

func (t *typography) next(s string) (string, int) {
	if s[0] < utf8.RuneSelf {
		return s[:1], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	return t.piece(s[:size], r), size
}

func (t *typography) last(s string) (string, int) {
	if s[len(s)-1] < utf8.RuneSelf {
		return s[len(s)-1:], 1
	}
	r, size := utf8.DecodeLastRuneInString(s)
	return t.piece(s[len(s)-size:], r), size
}

// piece returns the ASCII equivalent of a character, or the character itself.
func (t *typography) piece(char string, r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032', '\u2039', '\u203a', '\u02bc', '\uff07':
		return "'"
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033', '\u00ab', '\u00bb', '\uff02':
		return `"`
	case '\u2014', '\u2015', '\ufe58':
		return t.em
	case '\u2013':
		return t.en
	case '\u2010', '\u2011', '\u2012', '\u2212', '\ufe63', '\uff0d':
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
	return char
}

// plain returns a text in the first of the typographies.
func plain(s string) string { return normalised(s, typographies[0]) }

func plainTrimmed(s string) string { return plain(strings.TrimSpace(s)) }

// readsPlain reports whether a line is want in plain form, without the
// whitespace around it.
func readsPlain(line, want string) bool {
	return reads(strings.TrimSpace(line), want, typographies[0])
}

// normalised returns a text in a form.
func normalised(s string, f form) string {
	if _, typographic := f.(*typography); typographic && ascii(s) {
		return s
	}
	return string(appendForm(make([]byte, 0, len(s)), s, f))
}

// appendForm appends a text in a form.
func appendForm(to []byte, s string, f form) []byte {
	for s != "" {
		piece, size := f.next(s)
		to = append(to, piece...)
		s = s[size:]
	}
	return to
}

// reads reports whether s is want in a form. It allocates nothing.
func reads(s, want string, f form) bool {
	for s != "" {
		piece, size := f.next(s)
		rest, ok := strings.CutPrefix(want, piece)
		if !ok {
			return false
		}
		s, want = s[size:], rest
	}
	return want == ""
}

// findForm finds the passages of text that read like old in a form and that
// keep accepts. They begin and end with whole pieces.
func findForm(text, old string, f form, keep func(span) bool) matches {
	var found matches
	want := []byte(normalised(old, f))
	if len(want) == 0 {
		return found
	}
	r := newRun(want, func(w, c byte) bool { return w == c })
	for at := 0; at < len(text); {
		piece, size := f.next(text[at:])
		at += size
		for i := range len(piece) {
			if !r.next(piece[i]) || i < len(piece)-1 {
				continue
			}
			start, ok := startOf(text[:at], len(want), f)
			if s := (span{start, at}); ok && keep(s) {
				found.add(s)
				r.restart()
			}
		}
	}
	return found
}

// startOf returns where the last n bytes of a text's normal form begin. ok is
// false if that is inside a piece.
func startOf(text string, n int, f form) (start int, ok bool) {
	for n > 0 {
		piece, size := f.last(text)
		n -= len(piece)
		text = text[:len(text)-size]
	}
	return len(text), n == 0
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// waysToRead returns the typographies in which two texts may be compared.
func waysToRead(a, b string) []*typography {
	if longDash(a) || longDash(b) {
		return typographies
	}
	return typographies[:1]
}

// longDash reports whether a text has a dash with several equivalents.
func longDash(s string) bool {
	return strings.Contains(s, "\u2013") || strings.Contains(s, "\u2014") || strings.Contains(s, "\u2015") || strings.Contains(s, "\ufe58")
}
