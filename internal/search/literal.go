package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode"
)

// A needle is a fixed text that every match of a pattern contains.
type needle struct {
	text []byte // lower case if fold
	fold bool
	rare int // index in text of the byte that is rarest in source code
}

// maxNeedles bounds the alternatives that are searched for one by one.
const maxNeedles = 8

// needles returns texts of which every match contains at least one, or nil if
// there are none. exact says that the pattern is just that text.
func needles(re *syntax.Regexp) (list []needle, exact bool) {
	switch re.Op {
	case syntax.OpLiteral:
		n, ok := newNeedle(re)
		if !ok {
			return nil, false
		}
		return []needle{n}, len(n.text) == len(string(re.Rune))
	case syntax.OpCapture:
		return needles(re.Sub[0])
	case syntax.OpPlus:
		list, _ = needles(re.Sub[0])
		return list, false
	case syntax.OpRepeat:
		if re.Min > 0 {
			list, _ = needles(re.Sub[0])
		}
		return list, false
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if found, _ := needles(sub); better(found, list) {
				list = found
			}
		}
		return list, false
	case syntax.OpAlternate:
		exact = true
		for _, sub := range re.Sub {
			found, whole := needles(sub)
			if found == nil {
				return nil, false
			}
			list = append(list, found...)
			exact = exact && whole
		}
		if len(list) > maxNeedles {
			return nil, false
		}
		return list, exact
	}
	return nil, false
}

// better reports whether a narrows a search more than b.
func better(a, b []needle) bool {
	if a == nil || b == nil {
		return a != nil
	}
	return shortest(a)*2-len(a) > shortest(b)*2-len(b)
}

func shortest(list []needle) int {
	n := len(list[0].text)
	for _, e := range list {
		n = min(n, len(e.text))
	}
	return n
}

// newNeedle makes a needle from a literal. If case is folded, it uses only the
// longest run of ASCII.
func newNeedle(re *syntax.Regexp) (needle, bool) {
	text := string(re.Rune)
	fold := re.Flags&syntax.FoldCase != 0 && strings.IndexFunc(text, unicode.IsLetter) >= 0
	if fold {
		text = strings.ToLower(longestASCII(text))
	}
	if text == "" || strings.Contains(text, "\n") {
		return needle{}, false // a line has no line break: only the expression can match
	}
	n := needle{text: []byte(text), fold: fold}
	for i := range n.text {
		if commonness(n.text[i]) < commonness(n.text[n.rare]) {
			n.rare = i
		}
	}
	return n, true
}

func longestASCII(s string) string {
	best := ""
	for _, run := range strings.FieldsFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) {
		if len(run) > len(best) {
			best = run
		}
	}
	return best
}

// commonness ranks bytes roughly by how often they occur in source code.
func commonness(b byte) int {
	if i := strings.IndexByte("zqjxkvwybgfphmdculsirnoate \t", b); i >= 0 {
		return 10 + i
	}
	if 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' {
		return 5
	}
	return 8
}

// index returns the first position of the needle in text, or -1.
func (n *needle) index(text []byte) int {
	if !n.fold {
		return bytes.Index(text, n.text)
	}
	low := n.text[n.rare]
	high := byte(unicode.ToUpper(rune(low)))
	nextLow, nextHigh := -1, -1 // next position of either case, len(text) for none
	for from := n.rare; from < len(text); {
		if nextLow < from {
			nextLow = indexFrom(text, low, from)
		}
		if nextHigh < from {
			nextHigh = indexFrom(text, high, from)
		}
		at := min(nextLow, nextHigh)
		if at >= len(text) {
			return -1
		}
		if start := at - n.rare; start+len(n.text) <= len(text) && equalFold(text[start:start+len(n.text)], n.text) {
			return start
		}
		from = at + 1
	}
	return -1
}

func indexFrom(text []byte, b byte, from int) int {
	if i := bytes.IndexByte(text[from:], b); i >= 0 {
		return from + i
	}
	return len(text)
}

// equalFold compares text with a lower-case ASCII text, ignoring case.
func equalFold(text, lower []byte) bool {
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// foldsToASCII reports whether text has one of the two non-ASCII characters
// that fold to ASCII letters, so that a folding needle could miss a match.
func foldsToASCII(text []byte) bool {
	return bytes.Contains(text, []byte("\u212a")) || bytes.Contains(text, []byte("\u017f"))
}
