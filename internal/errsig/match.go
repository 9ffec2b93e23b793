package errsig

import (
	"slices"
	"strings"
)

// Match says how a stored pattern relates to a failure.
type Match int

// The relations, the closest last.
const (
	Other   Match = iota // another failure
	Similar              // worded otherwise, about the same program, paths, numbers and names
	Fits                 // the pattern has placeholders where the failure differs
	Exact                // the same failure
)

// Match compares a stored pattern with the failure. A pattern without the
// program that failed is exact, too, because it was saved from the message.
func (s Signature) Match(pattern string) Match {
	switch {
	case pattern == "" || s.Pattern == "":
		return Other
	case same(pattern, s.Pattern), same(pattern, s.Bare):
		return Exact
	case pattern == s.General, fits(pattern, s.Pattern), fits(pattern, s.Bare):
		return Fits
	case Resembles(pattern, s.Pattern), Resembles(pattern, s.Bare):
		return Similar
	}
	return Other
}

// same compares two patterns. Some shells leave out a word for a missing command.
func same(a, b string) bool {
	short := func(p string) string {
		if before, ok := strings.CutSuffix(p, ": command not found"); ok && !strings.Contains(before, " ") {
			return before + ": not found"
		}
		return p
	}
	return a == b || short(a) == short(b)
}

// placeholders replace a word that varies. Versions before wrote them for all
// paths and numbers; who saves a fix may write them, too.
var placeholders = []string{"<path>", "<url>", "<time>", "<hex>", "<n>", "<name>"}

// fits compares word by word, where a placeholder means any word of its kind.
func fits(pattern, message string) bool {
	if !slices.ContainsFunc(placeholders, func(p string) bool { return strings.Contains(pattern, p) }) {
		return false
	}
	want, got := strings.Fields(pattern), strings.Fields(message)
	if len(want) != len(got) {
		return false
	}
	for i, w := range want {
		if w != got[i] && w != general(got[i]) && !named(w, got[i]) {
			return false
		}
	}
	return true
}

// named reports whether w is <name> for the word, with the same signs around.
func named(w, word string) bool {
	before, after, ok := strings.Cut(w, "<name>")
	return ok && len(word) > len(before)+len(after) && strings.HasPrefix(word, before) && strings.HasSuffix(word, after)
}

// leastResemblance is the least share of words that two resembling patterns have
// in common.
const leastResemblance = 0.6

// Resembles reports whether two patterns are the same failure in other words. What
// a message names (a program, a path, a number, a name) is part of what failed, so
// one pattern must have all words of the other, in order, and the others must be
// plain words. Where a word is replaced by another one, both may be names, and then
// a fix for one is wrong for the other.
func Resembles(a, b string) bool {
	long, short := wordsOf(a), wordsOf(b)
	if len(long) < len(short) {
		long, short = short, long
	}
	if len(short) == 0 || float64(len(short)) < leastResemblance*float64(len(long)) {
		return false
	}
	at := 0
	for _, w := range long {
		switch {
		case at < len(short) && w == short[at]:
			at++
		case !plainWord(w):
			return false
		}
	}
	return at == len(short)
}

// oneWay are wordings of the same thing.
var oneWay = strings.NewReplacer("can't ", "cannot ", "can not ", "cannot ", "could not ", "cannot ", "couldn't ", "cannot ", "unable to ", "cannot ", "failed to ", "cannot ")

// wordsOf returns the words of a pattern without those that say nothing.
func wordsOf(pattern string) []string {
	words := strings.Fields(oneWay.Replace(pattern))
	return slices.DeleteFunc(words, func(w string) bool {
		switch w {
		case "error:", "fatal:", "warning:", "err:", "failed:", "a", "an", "the":
			return true
		}
		return false
	})
}

// plainWord reports whether a word names nothing by its form: only letters, with a
// comma or a full stop at its end.
func plainWord(w string) bool {
	w = strings.TrimRight(w, ",.;!")
	return w != "" && !strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' })
}
