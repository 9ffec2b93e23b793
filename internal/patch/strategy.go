package patch

import "strings"

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

// A strategy finds passages of a document that match old. They are in order, do
// not overlap, and have as many line breaks as old (for escape and boundary: as
// old once unescaped or trimmed).
type strategy struct {
	name string
	find func(d *document, old string) []span
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

func findExact(d *document, old string) []span { return substrings(d.text, old) }

// substrings finds old in text without overlaps.
func substrings(text, old string) []span {
	var spans []span
	for from := 0; ; {
		i := strings.Index(text[from:], old)
		if i < 0 || old == "" {
			return spans
		}
		spans = append(spans, span{from + i, from + i + len(old)})
		from += i + len(old)
	}
}

// findLineTrimmed compares whole lines without the whitespace around them.
func findLineTrimmed(d *document, old string) []span {
	return wholeLines(d, old, strings.TrimSpace)
}

// wholeLines finds runs of lines that equal those of old under form.
func wholeLines(d *document, old string, form func(string) string) []span {
	want, open := linesOf(old)
	for i := range want {
		want[i] = form(want[i])
	}
	if len(want) > len(d.lines) {
		return nil
	}
	have := make([]string, len(d.lines))
	for i := range have {
		have[i] = form(d.line(i))
	}
	var spans []span
	for i := 0; i+len(want) <= len(have); i++ {
		if !equalAt(have[i:], want) {
			continue
		}
		s := span{d.lines[i].start, d.lines[i+len(want)-1].end}
		if open {
			if s.end == len(d.text) {
				continue // old ends in a line break that the file lacks
			}
			s.end++
		}
		spans = append(spans, s)
		i += len(want) - 1
	}
	return spans
}

func equalAt(have, want []string) bool {
	for i := range want {
		if have[i] != want[i] {
			return false
		}
	}
	return true
}

// linesOf splits old into lines. open says that it ended with a line break.
func linesOf(old string) (lines []string, open bool) {
	body, open := strings.CutSuffix(old, "\n")
	return strings.Split(body, "\n"), open
}

// findIndentation ignores indentation. The last line may stop before the end of
// its line in the file, but not inside a word.
func findIndentation(d *document, old string) []span {
	want := strings.Split(old, "\n")
	for i := range want {
		want[i] = strings.TrimLeft(want[i], " \t")
	}
	last := len(want) - 1
	if want[last] == "" || want[0] == "" {
		return nil
	}
	var spans []span
	for i := 0; i+last < len(d.lines); i++ {
		if !indentedRun(d, i, want[:last]) {
			continue
		}
		tail := d.line(i + last)
		bare := strings.TrimLeft(tail, " \t")
		if !strings.HasPrefix(bare, want[last]) || cutsWord(bare, len(want[last])) {
			continue
		}
		end := d.lines[i+last].start + len(tail) - len(bare) + len(want[last])
		spans = append(spans, span{d.lines[i].start, end})
		i += last
	}
	return spans
}

func indentedRun(d *document, at int, want []string) bool {
	for i, w := range want {
		if strings.TrimLeft(d.line(at+i), " \t") != w {
			return false
		}
	}
	return true
}

// cutsWord reports whether a cut of s at n would split a word.
func cutsWord(s string, n int) bool {
	return n > 0 && n < len(s) && wordByte(s[n-1]) && wordByte(s[n])
}

func wordByte(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// findUnescaped treats \n, \t and \r in old as the characters they spell.
func findUnescaped(d *document, old string) []span {
	real := unescape(old)
	if real == old || strings.TrimSpace(real) == "" {
		return nil
	}
	return substrings(d.text, real)
}

func unescape(s string) string {
	return strings.NewReplacer(`\r\n`, "\n", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}

// findTrimmed drops the whitespace and blank lines around old as a whole.
func findTrimmed(d *document, old string) []span {
	bare := strings.TrimSpace(old)
	if bare == old {
		return nil
	}
	return substrings(d.text, bare)
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
