package patch

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of the strategies, in the order in which they are tried.
const (
	strategyExact       = "exact"
	strategyLineTrimmed = "line-trimmed"
	strategyWhitespace  = "whitespace-normalised"
	strategyIndentation = "indentation-flexible"
	strategyEscape      = "escape-normalised"
	strategyBoundary    = "trimmed-boundary"
	strategyUnicode     = "unicode-normalised"
	strategyAnchor      = "block-anchor"
	strategyContext     = "context-aware"
)

// A strategy finds the passages of a document that match old and that keep
// accepts. They have as many line breaks as old (for escape and boundary: as old
// once unescaped or trimmed). Except for exact, keep refuses those that begin or
// end inside a word: the search text names whole words, or it would be exact.
type strategy struct {
	name string
	find func(d *document, old string, keep func(span) bool) matches
}

// exactStrategies differ from a plain search only in form: whitespace, escapes,
// typography. What they find is the text that was meant.
var exactStrategies = []strategy{
	{strategyExact, findExact},
	{strategyLineTrimmed, findLineTrimmed},
	{strategyWhitespace, findWhitespace},
	{strategyIndentation, findIndentation},
	{strategyEscape, findUnescaped},
	{strategyBoundary, findTrimmed},
	{strategyUnicode, findUnicode},
}

// similarStrategies accept text that differs in substance.
var similarStrategies = []strategy{
	{strategyAnchor, findAnchored},
	{strategyContext, findSimilar},
}

func findExact(d *document, old string, keep func(span) bool) matches {
	return findLiteral(d.text, old, keep)
}

func findLiteral(text, old string, keep func(span) bool) matches {
	if !strings.Contains(text, old) {
		return matches{} // much faster than the search that asks keep
	}
	return findForm(text, old, literal{}, keep)
}

// findLineTrimmed compares whole lines without the whitespace around them.
func findLineTrimmed(d *document, old string, keep func(span) bool) matches {
	return wholeLines(d, old, strings.TrimSpace, func(want, line string) bool {
		return want == strings.TrimSpace(line)
	}, keep)
}

// wholeLines finds runs of lines that are those of old under form. same compares
// a line of old in that form with one of the file.
func wholeLines(d *document, old string, form func(string) string, same func(want, line string) bool, keep func(span) bool) matches {
	want, open := linesOf(old)
	for i := range want {
		want[i] = form(want[i])
	}
	var found matches
	r := newRun(want, same)
	for line := range d.linesFrom(0) {
		if !r.next(d.at(line)) {
			continue
		}
		s := span{d.back(line.start, len(want)-1), line.end}
		if open {
			if s.end == len(d.text) {
				continue // old ends in a line break that the file lacks
			}
			s.end++
		}
		if keep(s) {
			found.add(s)
			r.restart()
		}
	}
	return found
}

// linesOf splits old into lines. open says that it ended with a line break.
func linesOf(old string) (lines []string, open bool) {
	body, open := strings.CutSuffix(old, "\n")
	return strings.Split(body, "\n"), open
}

// findWhitespace treats every run of spaces and tabs as one space.
func findWhitespace(d *document, old string, keep func(span) bool) matches {
	return findForm(d.text, old, blanks{}, keep)
}

// findIndentation ignores indentation. The last line may stop before the end of
// its line in the file.
func findIndentation(d *document, old string, keep func(span) bool) matches {
	var found matches
	want := strings.Split(old, "\n")
	for i := range want {
		want[i] = unindented(want[i])
	}
	head, tail := want[:len(want)-1], want[len(want)-1]
	if want[0] == "" || tail == "" {
		return found
	}
	r := newRun(head, func(want, line string) bool { return want == unindented(line) })
	for line := range d.linesFrom(0) {
		text := d.at(line)
		if bare := unindented(text); r.done() && strings.HasPrefix(bare, tail) {
			s := span{d.back(line.start, len(head)), line.end - len(bare) + len(tail)}
			if keep(s) {
				found.add(s)
				r.restart()
				continue
			}
		}
		r.next(text)
	}
	return found
}

func unindented(line string) string {
	n := 0
	for n < len(line) && blank(line[n]) {
		n++
	}
	return line[n:]
}

// cutsWords reports whether a span begins or ends inside a word.
func (d *document) cutsWords(s span) bool {
	return cutsWord(d.text, s.start) || cutsWord(d.text, s.end)
}

// cutsWord reports whether a cut of s at n would split a word.
func cutsWord(s string, n int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:n])
	after, _ := utf8.DecodeRuneInString(s[n:])
	return 0 < n && n < len(s) && wordRune(before) && wordRune(after)
}

// wordRune reports whether a character belongs to a word. Scripts that are
// written without blanks between words have no such characters, since any place
// may be between two words. A byte that is not UTF-8 may be a letter.
func wordRune(r rune) bool {
	switch {
	case r == '_' || r == utf8.RuneError:
		return true
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan):
		return false
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// findUnescaped treats \n, \t and \r in old as the characters they spell.
func findUnescaped(d *document, old string, keep func(span) bool) matches {
	real := unescape(old)
	if real == old || strings.TrimSpace(real) == "" {
		return matches{}
	}
	return findLiteral(d.text, real, keep)
}

func unescape(s string) string {
	return strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}

// findUnicode treats typographic characters as their ASCII equivalents, in
// passages and in lines without the whitespace around them.
func findUnicode(d *document, old string, keep func(span) bool) matches {
	if ascii(old) && ascii(d.text) {
		return matches{} // nothing to normalise: the earlier strategies covered it
	}
	for _, t := range waysToRead(old, d.text) {
		if found := findForm(d.text, old, t, keep); found.count > 0 {
			return found
		}
		form := func(line string) string { return normalised(strings.TrimSpace(line), t) }
		same := func(want, line string) bool { return reads(strings.TrimSpace(line), want, t) }
		if found := wholeLines(d, old, form, same, keep); found.count > 0 {
			return found
		}
	}
	return matches{}
}

// findTrimmed drops the whitespace and blank lines around old as a whole.
func findTrimmed(d *document, old string, keep func(span) bool) matches {
	bare := strings.TrimSpace(old)
	if bare == old {
		return matches{}
	}
	return findLiteral(d.text, bare, keep)
}

// trimTogether drops the outer whitespace of old, and the same from new.
func trimTogether(old, new string) (string, string) {
	left := len(old) - len(strings.TrimLeft(old, " \t\r\n"))
	right := len(old) - len(strings.TrimRight(old, " \t\r\n"))
	for _, c := range []byte(old[:left]) {
		if new == "" || new[0] != c {
			break
		}
		new = new[1:]
	}
	for i := len(old) - 1; i >= len(old)-right; i-- {
		if new == "" || new[len(new)-1] != old[i] {
			break
		}
		new = new[:len(new)-1]
	}
	return strings.TrimSpace(old), new
}
