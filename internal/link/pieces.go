package link

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"hermes/internal/lazy"
)

// Bounds for data in many short pieces, none of which looks like data by itself.
const (
	maxOdd     = 13 // about as many characters that are no words, in a whole link
	maxFigures = 20 // digits of a path and a query: names of papers have so many
	oddPiece   = 3  // what a short piece counts at least that is no word
	oddHost    = 2  // how often what is in a host name counts: programs look names up without a click
)

// piecesCarry reports whether the pieces of a link together look like data rather than words. name is its host.
func piecesCarry(name, after string) bool {
	return oddHost*oddInName(name)+oddAfter(after) > maxOdd || figures(unescaped(after)) > maxFigures
}

// figures counts digits.
func figures(s string) int {
	n := 0
	for i := range len(s) {
		if isDigit(s[i]) {
			n++
		}
	}
	return n
}

// oddInName counts the characters of a host name that are no words. What an owner registers is not counted: it
// cannot be another one for each text.
func oddInName(name string) int {
	n := 0
	for _, label := range strings.Split(belowOwner(name), ".") {
		text, others := decoded(label)
		n += odd(text) + 2*others
	}
	return n
}

// belowOwner returns what is in front of the part of a host name that its owner registers.
func belowOwner(name string) string {
	if _, err := netip.ParseAddr(name); err == nil {
		return ""
	}
	suffix, icann := publicsuffix.PublicSuffix(name)
	if i := strings.LastIndexByte(suffix, '.'); i >= 0 && !icann { // of someone who gives out names as they like
		suffix = suffix[i+1:]
	}
	below := strings.TrimSuffix(strings.TrimSuffix(name, suffix), ".")
	return below[:max(0, strings.LastIndexByte(below, '.'))]
}

// decoded returns the ASCII letters of a label, and the number of its others.
func decoded(label string) (ascii string, others int) {
	text, err := idna.Punycode.ToUnicode(label)
	if err != nil {
		return label, 0
	}
	ascii = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf {
			return r
		}
		others++
		return -1
	}, text)
	return ascii, others
}

// oddAfter counts the characters of what follows the host that are no words.
func oddAfter(s string) int {
	if at := date().FindStringIndex(s); at != nil {
		s = s[:at[0]] + s[at[1]-1:]
	}
	s = unescaped(s)
	n := oddSigns(s)
	for _, piece := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(`/\?&;#`, r) }) {
		key, values, _ := strings.Cut(piece, "=")
		if values == "" {
			n += odd(key)
			continue
		}
		n += oddTokens(key)
		for value := range strings.SplitSeq(values, "=") {
			n += odd(value)
		}
	}
	return n
}

// date is one in a path, as news have it.
var date = lazy.Regexp(`/(?:19|20)\d\d(?:/[01]?\d(?:/[0-3]?\d)?)?/`)

// oddSigns counts the signs that follow others, and twice the symbols that are no ASCII.
func oddSigns(s string) int {
	n, before := 0, false
	for _, r := range s {
		sign := !isWord(r) && !strings.ContainsRune(`/\`, r)
		switch {
		case sign && r >= utf8.RuneSelf:
			n += 2
		case sign && before:
			n++
		}
		before = sign
	}
	return n
}

// odd counts the characters of a segment of a path, a value or a label that are no words.
func odd(piece string) int {
	n := oddTokens(piece)
	if size := utf8.RuneCountInString(piece); size > 0 && size <= oddPiece && !common()[strings.ToLower(piece)] && strings.ContainsFunc(piece, isWord) {
		n = max(n, oddPiece)
	}
	return n
}

func oddTokens(s string) int {
	n := 0
	for _, token := range tokens(s) {
		n += oddToken(token)
	}
	return n
}

// oddToken counts the characters of letters and digits that are no word. A number counts half, also behind a word.
func oddToken(s string) int {
	size := utf8.RuneCountInString(s)
	word := strings.TrimRight(s, "0123456789")
	number := (len(s) - len(word) + 1) / 2
	switch {
	case common()[strings.ToLower(s)]:
		return 0
	case word == "":
		return number
	case strings.ContainsFunc(s, disguised):
		return 2 * size
	case strings.ContainsAny(word, "0123456789"):
		return max(size, oddPiece)
	case word != s && oddToken(word) > 0:
		return max(number+oddToken(word), oddPiece)
	case word != s:
		return number
	case size < len(s): // another script
		return 0
	case size == 2:
		return oddPiece
	case size == 1, !strings.ContainsAny(s, "aeiouyAEIOUY"), humps(s) > 1 && size < 3*humps(s):
		return size
	}
	return 0
}

// disguised reports whether a letter or digit is an ASCII one in another shape.
func disguised(r rune) bool {
	return r >= 0x1D400 && r <= 0x1D7FF || r >= 0x2460 && r <= 0x24FF || r >= 0x1F100 && r <= 0x1F1FF
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// tokens returns the runs of letters and digits of a text.
func tokens(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWord(r) })
}
