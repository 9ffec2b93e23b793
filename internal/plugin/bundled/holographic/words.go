package holographic

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// common are words that say nothing about what a text is about.
const common = " a about all an and any are as at be been but by can could did do does for from had has have he her him his how i if in into is it its " +
	"just me more my no not of on one or our she should so some than that the their them then there they this to us use was we were what when where which " +
	"who will with would you your "

// words are those of a text that matter, in lower case, each once.
func words(text string) []string {
	var list []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 1 && !strings.Contains(common, " "+w+" ") && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

var (
	quoted = regexp.MustCompile(`"([^"\n]{2,60})"|“([^”\n]{2,60})”`)
	named  = regexp.MustCompile(`\p{Lu}[\p{L}\d_-]*(?: \p{Lu}[\p{L}\d_-]*)*`)
)

// entities are the people and things that a text names: what is quoted, and words that begin with a
// capital letter. A single one at the beginning of a sentence only counts if it has a second capital letter or
// a digit, or is there again.
func entities(text string) []string {
	var list []string
	add := func(e string) {
		e = strings.TrimSpace(e)
		if len([]rune(e)) > 1 && !strings.Contains(common, " "+strings.ToLower(e)+" ") && !slices.ContainsFunc(list, func(o string) bool { return strings.EqualFold(o, e) }) && len(list) < 16 {
			list = append(list, e)
		}
	}
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		add(m[1] + m[2])
	}
	for _, at := range named.FindAllStringIndex(text, -1) {
		e := text[at[0]:at[1]]
		before := strings.TrimRight(text[:at[0]], " \n\t")
		begins := before == "" || strings.ContainsAny(before[len(before)-1:], ".!?:")
		if begins && !strings.Contains(e, " ") && !strings.ContainsFunc(e[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) && strings.Count(text, e) < 2 {
			continue
		}
		if first, rest, ok := strings.Cut(e, " "); ok && begins && strings.Contains(common, " "+strings.ToLower(first)+" ") {
			e = rest
		}
		add(e)
	}
	return list
}

// overlap is how many of the words of a question a fact has, from 0 to 1. Words that begin alike count, too.
func overlap(question, fact []string) float64 {
	if len(question) == 0 {
		return 0
	}
	n := 0.0
	for _, q := range question {
		if slices.Contains(fact, q) {
			n++
		} else if len(q) > 4 && slices.ContainsFunc(fact, func(f string) bool { return len(f) > 4 && (strings.HasPrefix(f, q) || strings.HasPrefix(q, f)) }) {
			n += 0.7
		}
	}
	return n / float64(len(question))
}
