package sqlite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerms limits the terms of a query; further ones are ignored.
const maxTerms = 16

// term is something to find: consecutive words, or a run of characters in a script
// without word breaks.
type term struct {
	words  []string // folded
	prefix bool     // the last word is a prefix
	run    string   // instead of words
}

// group is a list of required terms and a list of excluded ones.
type group struct{ must, not []term }

// query is a parsed search; a hit matches one of the groups.
type query struct {
	groups []group
	// simple queries have no operators and no phrases: if no message has all
	// terms, those with some are shown.
	simple bool
}

// parseQuery parses any text. It knows phrases in balanced quotes, a star after a
// word, and AND, OR and NOT in capitals between terms; all other characters that are
// not part of words only separate words.
func parseQuery(text string) query {
	q := query{simple: true}
	var g group
	negate, count := false, 0
	for _, t := range lex(text) {
		switch t.operator {
		case "OR":
			q.add(&g)
			q.simple, negate = false, false
			continue
		case "AND":
			q.simple, negate = false, false
			continue
		case "NOT":
			q.simple, negate = false, true
			continue
		}
		if t.quoted {
			q.simple = false
		}
		for _, term := range terms(t.text, t.star) {
			if count++; count > maxTerms {
				break
			}
			if negate {
				g.not = append(g.not, term)
			} else {
				g.must = append(g.must, term)
			}
		}
		negate = false
	}
	q.add(&g)
	return q
}

// add adds a group if it requires a term, and begins the next.
func (q *query) add(g *group) {
	if len(g.must) > 0 {
		q.groups = append(q.groups, *g)
	}
	*g = group{}
}

// wanted returns the terms that a hit may contain.
func (q query) wanted() []term {
	var list []term
	for _, g := range q.groups {
		list = append(list, g.must...)
	}
	return list
}

// loose returns a query that matches any of the terms.
func (q query) loose() query {
	var l query
	for _, t := range q.wanted() {
		l.groups = append(l.groups, group{must: []term{t}})
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

// terms splits a word or phrase into terms, one for each run of one kind of script.
func terms(text string, star bool) []term {
	var list []term
	var words []string
	flush := func() {
		if len(words) > 0 {
			list = append(list, term{words: words})
		}
		words = nil
	}
	for text != "" {
		n, kind := run(text)
		switch kind {
		case runUnbroken:
			flush()
			list = append(list, term{run: text[:n]})
		case runWord:
			if w := foldWord(text[:n]); w != "" && len(w) <= maxWord {
				words = append(words, w)
			}
		}
		text = text[n:]
	}
	flush()
	if last := len(list) - 1; star && last >= 0 && list[last].run == "" {
		list[last].prefix = true
	}
	return list
}

func foldWord(w string) string { return strings.Map(fold, w) }

// fts returns the term in the query language of the index.
func (t term) fts() string {
	if t.run == "" {
		s := `"` + strings.Join(t.words, " ") + `"`
		if t.prefix {
			s += "*"
		}
		return s
	}
	if utf8.RuneCountInString(t.run) == 1 {
		return `"` + t.run + `"*`
	}
	var b strings.Builder
	writeGrams(&b, t.run)
	grams := strings.Fields(b.String())
	grams = grams[:len(grams)-1] // the last is a single character
	slices.Sort(grams)
	return `("` + strings.Join(slices.Compact(grams), `" AND "`) + `")`
}

// join writes terms with an operator between them.
func join(list []term, operator string) string {
	parts := make([]string, len(list))
	for i, t := range list {
		parts[i] = t.fts()
	}
	return strings.Join(parts, " "+operator+" ")
}

// byIndex splits terms into those of the index of words and those of grams.
func byIndex(list []term) (words, grams []term) {
	for _, t := range list {
		if t.run == "" {
			words = append(words, t)
		} else {
			grams = append(grams, t)
		}
	}
	return words, grams
}
