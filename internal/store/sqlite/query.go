package sqlite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerms bounds the terms of a query; further ones are left out.
const maxTerms = 16

// term is something to find: words that follow each other, or a run of
// characters in a script without word breaks.
type term struct {
	words  []string // folded
	prefix bool     // the last word may go on
	run    string   // instead of words
}

// group is a list of terms that must all be found, and of terms that must not.
type group struct{ must, not []term }

// query is what a person asks for: one of the groups.
type query struct {
	groups []group
	// simple queries have no operators and no phrases: if nothing holds all
	// terms, what holds some is worth showing.
	simple bool
}

// parseQuery makes sense of any text. It knows balanced phrases in quotes, a
// star after a word, and AND, OR and NOT in capitals between terms; all else
// that is no word only parts words.
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

// add takes a group that asks for something and begins the next.
func (q *query) add(g *group) {
	if len(g.must) > 0 {
		q.groups = append(q.groups, *g)
	}
	*g = group{}
}

// wanted are the terms that a hit may show.
func (q query) wanted() []term {
	var list []term
	for _, g := range q.groups {
		list = append(list, g.must...)
	}
	return list
}

// loose asks for any of the terms.
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

// terms parts a word or phrase into terms, one for each stretch of a kind.
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

// fts is the term in the language of the index.
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

// byIndex parts terms into those of the index of words and those of grams.
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
