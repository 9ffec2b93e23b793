package fulltext

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"hermes/internal/order"
)

// Limits of a snippet in bytes, before and after the first word found.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// span is a range of a text.
type span struct{ from, to int }

// Snippet shows the first match of a term, with matches between >>> and <<<. Without a
// match it shows the beginning of the text.
func Snippet(text string, wanted []Term) string {
	spans := spansOf(text, wanted, snippetAfter)
	window := span{0, min(len(text), snippetBefore+snippetAfter)}
	if len(spans) > 0 {
		window = span{max(0, spans[0].from-snippetBefore), min(len(text), max(spans[0].to, spans[0].from+snippetAfter))}
	}
	window = toBlanks(text, window)
	var b strings.Builder
	if window.from > 0 {
		b.WriteString("…")
	}
	at := window.from
	for _, s := range spans {
		if s.from < at || s.to > window.to {
			continue
		}
		b.WriteString(text[at:s.from] + ">>>" + text[s.from:s.to] + "<<<")
		at = s.to
	}
	b.WriteString(text[at:window.to])
	if window.to < len(text) {
		b.WriteString("…")
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(b.String(), "\uFFFD")), " ")
}

// toBlanks moves the borders of a window inwards to nearby blanks, and never into a
// character.
func toBlanks(text string, w span) span {
	const near = 20
	if w.from > 0 {
		if i := strings.IndexFunc(text[w.from:min(w.from+near, w.to)], unicode.IsSpace); i >= 0 {
			w.from += i
		}
		for w.from < w.to && !utf8.RuneStart(text[w.from]) {
			w.from++
		}
	}
	if w.to < len(text) {
		low := max(w.to-near, w.from)
		if i := strings.LastIndexFunc(text[low:w.to], unicode.IsSpace); i >= 0 {
			w.to = low + i
		}
		for w.to > w.from && !utf8.RuneStart(text[w.to]) {
			w.to--
		}
	}
	return w
}

// token is a word of a text and its position.
type token struct {
	span
	word string
}

// spansOf finds the first match of a term in a text, and the others that begin at most
// reach bytes after it, in order. It reads no further, since a text may be long.
func spansOf(text string, wanted []Term, reach int) []span {
	end, longest := len(text), 0
	for _, t := range wanted {
		if i := strings.Index(text, t.Run); t.Run != "" && i >= 0 {
			end = min(end, i+reach)
		}
		longest = max(longest, len(t.Words))
	}
	var spans []span
	var last []token // as many as the longest term has words
	for at := 0; at < end && longest > 0; {
		n, kind := run(text[at:])
		if kind == runWord {
			if len(last) == longest {
				last = append(last[:0], last[1:]...)
			}
			last = append(last, token{span{at, at + n}, Fold(text[at : at+n])})
			for _, t := range wanted {
				if from, ok := t.endsAt(last); ok {
					spans = append(spans, span{from, at + n})
					end = min(end, from+reach)
				}
			}
		}
		at += n
	}
	for _, t := range wanted {
		for at := 0; t.Run != "" && at < end; {
			i := strings.Index(text[at:], t.Run)
			if i < 0 {
				break
			}
			spans = append(spans, span{at + i, at + i + len(t.Run)})
			at += i + len(t.Run)
		}
	}
	order.By(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	return spans
}

// endsAt reports whether tokens end with the words of a term, and where it begins.
func (t Term) endsAt(tokens []token) (from int, ok bool) {
	n := len(t.Words)
	if n == 0 || len(tokens) < n {
		return 0, false
	}
	tokens = tokens[len(tokens)-n:]
	for i, w := range t.Words {
		if tokens[i].word != w && (i != n-1 || !t.Prefix || !strings.HasPrefix(tokens[i].word, w)) {
			return 0, false
		}
	}
	return tokens[0].from, true
}
