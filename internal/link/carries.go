package link

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// part is a part of a link.
type part int

const (
	inPath part = iota
	inQuery
)

// Bounds above which a part of a link counts as data.
const (
	maxQuery    = 32 // characters of all values
	maxAccount  = 32 // characters in front of the @
	maxNumber   = 20 // characters of a telephone number
	maxMarks    = 8  // that no one sees, around a link
	maxSegments = 10 // of a path
	maxAfter    = 200
	maxLabels   = 5 // of a host name
	maxLabel    = 24
	maxWord     = 24 // letters without a separator
	maxSpaces   = 4
	maxHidden   = 3
	maxWords    = 40 // characters of another script without a separator
	minPath     = 10 // characters of a part that can look random
	minQuery    = 8  // the same in a query
)

// carriesAfter reports whether what follows the host may carry data.
func carriesAfter(s string) bool {
	path, fragment, _ := strings.Cut(s, "#")
	path, query, _ := strings.Cut(path, "?")
	if utf8.RuneCountInString(unescaped(s)) > maxAfter {
		return true
	}
	segments := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	if len(segments) > maxSegments || hidden(path) {
		return true
	}
	for _, p := range segments {
		if carries(p, inPath) {
			return true
		}
	}
	values := 0
	for _, pair := range strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }) {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			key, value = "", key
		}
		values += utf8.RuneCountInString(unescaped(value))
		if carries(key, inPath) || carries(value, inQuery) {
			return true
		}
	}
	return values > maxQuery || carries(fragment, inPath)
}

// unescaped decodes percent signs as often as they were encoded, as far as they can be.
func unescaped(s string) string {
	for range 3 {
		t, err := url.PathUnescape(s)
		if err != nil || t == s {
			return s
		}
		s = t
	}
	return s
}

// nameCarries reports whether a host name may carry data.
func nameCarries(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Is6() && !address.IsLoopback() && interfaceCarries(address.As16())
	}
	labels := strings.Split(host, ".")
	return len(labels) > maxLabels || slices.ContainsFunc(labels, labelCarries)
}

// interfaceCarries reports whether the half of an address that one machine may have at will is more than a small number.
func interfaceCarries(address [16]byte) bool { return [6]byte(address[8:14]) != [6]byte{} }

func labelCarries(label string) bool {
	ascii, others := decoded(label)
	if strings.HasPrefix(label, "xn--") && others == 0 { // it has a plain form, or none
		return true
	}
	return len(label) > maxLabel || carries(ascii, inPath)
}

// carries reports whether a part of a link looks like data rather than words.
func carries(s string, in part) bool {
	if hidden(s) {
		return true
	}
	s = unescaped(s)
	if in == inPath && strings.Count(s, " ")+strings.Count(s, "+") > maxSpaces {
		return true
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) || strings.Contains(s, "%") {
		return true
	}
	least := minPath
	if in == inQuery {
		least = minQuery
	}
	trimmed := strings.TrimRight(s, "=")
	if len(trimmed) < len(s) && len(trimmed) >= least {
		return true
	}
	mixed := 0
	for _, token := range tokens(s) {
		if random(token, least) {
			return true
		}
		if changes(token) > 1 && len(token) > 3 {
			mixed++
		}
	}
	return mixed > 2
}

// hidden reports whether letters and digits are spelled with percent signs, which no program needs.
func hidden(s string) bool {
	n := 0
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' && (isDigit(s[i+1]) && s[i+1] > '2' && s[i+1] < '8' || s[i+1] == '2' && s[i+2] == '5') {
			n++
		}
	}
	return n > maxHidden
}

// random reports whether a token of letters and digits looks random.
func random(s string, least int) bool {
	n := utf8.RuneCountInString(s)
	if n < least {
		return false
	}
	if n < len(s) { // another script: words have no separators in some
		return n > maxWords
	}
	digits, hex, upper, humps := 0, 0, 0, humps(s)
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
			hex++
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			hex++
		}
		if s[i] >= 'A' && s[i] <= 'Z' {
			upper++
		}
	}
	switch {
	case digits == n:
		return n >= 12
	case hex == n && digits > 0 && n >= 12:
		return true
	case digits > 0 && changes(s) > 1:
		return true
	case digits > 6:
		return true
	case humps > 2 && n < 4*humps: // words in camel case are longer
		return true
	case upper > 0 && upper < n && humps < 2 && s[0] >= 'a' && s[0] <= 'z' && upper > 2:
		return true
	}
	return n > maxWord && humps < n/maxWord+2
}

// humps counts the parts of a word in camel case.
func humps(s string) int {
	n := 1
	for i := 1; i < len(s); i++ {
		if s[i] >= 'A' && s[i] <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			n++
		}
	}
	return n
}

// changes counts where letters follow digits and the other way around.
func changes(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if isDigit(s[i]) != isDigit(s[i-1]) {
			n++
		}
	}
	return n
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
