package link

import (
	"html"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/internal/lazy"
)

// plain returns a text as programs read links in it: without marks that Markdown, HTML and browsers drop, and
// with the dots that host names may have.
func plain(s string) string {
	if strings.Contains(s, "&") {
		s = html.UnescapeString(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		switch {
		case r == '\\' && i+1 < len(s) && strings.IndexByte(`!"#$%&'()*+,-./:;<=>?@[\]^_{|}~`, s[i+1]) >= 0:
		case visible(r) < 0:
		case r == 0x3002, r == 0xFF0E, r == 0xFF61:
			b.WriteByte('.')
		case r >= 0xFF01 && r <= 0xFF5E: // full width
			b.WriteRune(r - 0xFEE0)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// visible returns a character, or -1 if it is one that no one sees.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x034F {
		return -1
	}
	return r
}

// invisible counts the characters that no one sees.
func invisible(s string) int {
	return utf8.RuneCountInString(s) - utf8.RuneCountInString(strings.Map(visible, s))
}

// otherReadings returns how a text may be read too: Markdown drops a backslash, which browsers read as a slash and CSS as
// the beginning of a number, and HTML may be in a value of HTML.
func otherReadings(s string) []string {
	var list []string
	if strings.Contains(s, `\`) {
		list = append(list, strings.ReplaceAll(s, `\`, "/"))
	}
	if css := escapes().ReplaceAllStringFunc(s, character); css != s {
		list = append(list, css)
	}
	if strings.Contains(s, "&amp;") {
		list = append(list, html.UnescapeString(s))
	}
	return list
}

// escapes finds characters that CSS has numbers for.
var escapes = lazy.Regexp(`\\[0-9a-fA-F]{1,6}\s?`)

func character(escape string) string {
	n, err := strconv.ParseUint(strings.TrimSpace(escape[1:]), 16, 32)
	if err != nil {
		return escape
	}
	return string(rune(n))
}

// quotesJoined returns a text of the same length in which the quotes, bars and brackets inside of a word of a link are letters.
func quotesJoined(s string) string {
	b := []byte(s)
	inside := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("=/?&#%+_-.", c) >= 0
	}
	for i := 1; i+1 < len(b); i++ {
		if strings.IndexByte("'\"`|<>", b[i]) >= 0 && inside(s[i-1]) && inside(s[i+1]) {
			b[i] = '_'
		}
	}
	return string(b)
}

// listApart returns a text of the same length in which the links of srcset="a 1x, b 2x" and ping="a b" are apart.
func listApart(s string) string {
	if !strings.ContainsAny(s, `"'<`) {
		return s
	}
	return apart.Replace(s)
}

var (
	apart  = strings.NewReplacer("%20", "   ", "%09", "   ")
	spaces = strings.NewReplacer(" ", "%20", "\t", "%09", "\f", "%0C", "\n", "", "\r", "")
)

// unspaced spells the spaces in brackets or quotes as browsers do, and drops line breaks as they do.
func unspaced(s string) string {
	return spaces.Replace(s)
}

// spacedLen returns how long the text is that unspaced makes n bytes of.
func spacedLen(s string, n int) int {
	for i := range len(s) {
		if n <= 0 {
			return i
		}
		switch s[i] {
		case ' ', '\t', '\f':
			n -= len("%20")
		case '\n', '\r':
		default:
			n--
		}
	}
	return len(s)
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}
