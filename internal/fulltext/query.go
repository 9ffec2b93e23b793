// Package fulltext knows the words of a full-text index: how a text is split for
// it ([Split]), what a query asks for ([Parse]), and which piece of a text shows
// a match ([Snippet]). Words of scripts that separate them go to one index as
// they are; runs of other scripts go to a second one as pairs of characters.
//
// It agrees with SQLite's tokenizer unicode61 without diacritics, and knows
// neither the database nor messages.
package fulltext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxTerms limits the terms of a query; further ones are ignored.
const MaxTerms = 16

// Term is something to find: consecutive words, or a run of characters in a script
// without word breaks.
type Term struct {
	Words  []string // folded
	Prefix bool     // the last word is a prefix
	Run    string   // instead of Words
}

// Group is a list of required terms and a list of excluded ones.
type Group struct{ Must, Not []Term }

// Query is a parsed search; a hit matches one of the groups.
type Query struct {
	Groups []Group
	// Simple queries have no operators and no phrases: if no message has all
	// terms, those with some are shown.
	Simple bool
}

// Parse parses any text. It knows phrases in balanced quotes, a star after a
// word, and AND, OR and NOT in capitals between terms; all other characters that are
// not part of words only separate words.
func Parse(text string) Query {
	q := Query{Simple: true}
	var g Group
	negate, count := false, 0
	for _, t := range lex(text) {
		switch t.operator {
		case "OR":
			q.add(&g)
			q.Simple, negate = false, false
			continue
		case "AND":
			q.Simple, negate = false, false
			continue
		case "NOT":
			q.Simple, negate = false, true
			continue
		}
		if t.quoted {
			q.Simple = false
		}
		for _, term := range termsOf(t.text, t.star) {
			if count++; count > MaxTerms {
				break
			}
			if negate {
				g.Not = append(g.Not, term)
			} else {
				g.Must = append(g.Must, term)
			}
		}
		negate = false
	}
	q.add(&g)
	return q
}

// add adds a group if it requires a term, and begins the next.
func (q *Query) add(g *Group) {
	if len(g.Must) > 0 {
		q.Groups = append(q.Groups, *g)
	}
	*g = Group{}
}

// Terms returns the terms that a hit may contain.
func (q Query) Terms() []Term {
	var list []Term
	for _, g := range q.Groups {
		list = append(list, g.Must...)
	}
	return list
}

// Loose returns a query that matches any of the terms.
func (q Query) Loose() Query {
	var l Query
	for _, t := range q.Terms() {
		l.Groups = append(l.Groups, Group{Must: []Term{t}})
	}
	return l
}

// lexeme is a word, a phrase or an operator of a query.
type lexeme struct {
	text, operator string
	quoted, star   bool
}

func lex(text string) []lexeme {
	var list []lexeme
	for text = strings.TrimLeftFunc(text, unicode.IsSpace); text != ""; text = strings.TrimLeftFunc(text, unicode.IsSpace) {
		if text[0] == '"' {
			if end := strings.IndexByte(text[1:], '"'); end >= 0 {
				list = append(list, lexeme{text: text[1 : 1+end], quoted: true})
				text = text[end+2:]
				continue
			}
			text = text[1:]
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return r == '"' || unicode.IsSpace(r) })
		if end < 0 {
			end = len(text)
		}
		list = append(list, word(text[:end]))
		text = text[end:]
	}
	return list
}

func word(text string) lexeme {
	switch text {
	case "AND", "OR", "NOT":
		return lexeme{operator: text}
	}
	star := strings.HasSuffix(strings.TrimRightFunc(text, func(r rune) bool { return r != '*' && !inWord(r) }), "*")
	return lexeme{text: text, star: star}
}

// termsOf splits a word or phrase into terms, one for each run of one kind of script.
func termsOf(text string, star bool) []Term {
	var list []Term
	var words []string
	flush := func() {
		if len(words) > 0 {
			list = append(list, Term{Words: words})
		}
		words = nil
	}
	for text != "" {
		n, kind := run(text)
		switch kind {
		case runUnbroken:
			flush()
			list = append(list, Term{Run: text[:n]})
		case runWord:
			if w := Fold(text[:n]); w != "" && len(w) <= maxWord {
				words = append(words, w)
			}
		}
		text = text[n:]
	}
	flush()
	if last := len(list) - 1; star && last >= 0 && list[last].Run == "" {
		list[last].Prefix = true
	}
	return list
}

// Fold returns a text as the index stores it: lower case, without accents.
func Fold(text string) string { return strings.Map(foldRune, text) }

// FTS5 returns the term in the query language of SQLite's FTS5.
func (t Term) FTS5() string {
	if t.Run == "" {
		s := `"` + strings.Join(t.Words, " ") + `"`
		if t.Prefix {
			s += "*"
		}
		return s
	}
	if utf8.RuneCountInString(t.Run) == 1 {
		return `"` + t.Run + `"*`
	}
	var b strings.Builder
	writeGrams(&b, t.Run)
	grams := strings.Fields(b.String())
	grams = grams[:len(grams)-1] // the last is a single character
	slices.Sort(grams)
	return `("` + strings.Join(slices.Compact(grams), `" AND "`) + `")`
}

// Join writes terms with an operator between them.
func Join(list []Term, operator string) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.FTS5()
	}
	return strings.Join(parts, " "+operator+" ")
}

// ByIndex splits terms into those of the index of words and those of grams.
func ByIndex(list []Term) (words, grams []Term) {
	for _, t := range list {
		if t.Run == "" {
			words = append(words, t)
		} else {
			grams = append(grams, t)
		}
	}
	return words, grams
}
