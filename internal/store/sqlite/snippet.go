package sqlite

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a snippet in bytes, before and after the first word found.
const (
	snippetBefore = 60
	snippetAfter  = 140
)

// span is a range of a text.
type span struct{ from, to int }

// snippet shows the first match of a term, with matches between >>> and <<<. Without a
// match it shows the beginning of the text.
func snippet(text string, wanted []term) string {
	spans := spansOf(text, wanted)
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

// spansOf finds all terms in a text, in order.
func spansOf(text string, wanted []term) []span {
	tokens := tokenize(text)
	var spans []span
	for _, t := range wanted {
		if t.run != "" {
			for at := 0; ; {
				i := strings.Index(text[at:], t.run)
				if i < 0 {
					break
				}
				spans = append(spans, span{at + i, at + i + len(t.run)})
				at += i + len(t.run)
			}
			continue
		}
		for i := range tokens {
			if t.at(tokens[i:]) {
				spans = append(spans, span{tokens[i].from, tokens[i+len(t.words)-1].to})
			}
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	return spans
}

// at reports whether tokens begin with the words of a term.
func (t term) at(tokens []token) bool {
	if len(tokens) < len(t.words) {
		return false
	}
	last := len(t.words) - 1
	for i, w := range t.words {
		if tokens[i].word != w && (i != last || !t.prefix || !strings.HasPrefix(tokens[i].word, w)) {
			return false
		}
	}
	return true
}

func tokenize(text string) []token {
	var list []token
	for at := 0; at < len(text); {
		n, kind := run(text[at:])
		if kind == runWord {
			list = append(list, token{span{at, at + n}, foldWord(text[at : at+n])})
		}
		at += n
	}
	return list
}
