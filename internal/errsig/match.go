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
	Similar              // the same words, but for those that say nothing
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

// Resembles reports whether two patterns are the same failure in other words. Any
// other word may be a name, as alice in "user alice not found", or change the
// meaning, as not, so only words that say nothing may be added.
func Resembles(a, b string) bool {
	words := wordsOf(a)
	return len(words) > 0 && slices.Equal(words, wordsOf(b))
}

// oneWay are wordings of the same thing.
var oneWay = strings.NewReplacer("can't ", "cannot ", "can not ", "cannot ", "could not ", "cannot ", "couldn't ", "cannot ", "unable to ", "cannot ", "failed to ", "cannot ")

// sayNothing are words with which a message is the same as without them.
var sayNothing = []string{
	"error:", "fatal:", "warning:", "err:", "failed:", "a", "an", "the", "is", "are", "was", "were", "has", "have", "been",
	"again", "still", "now", "already", "currently", "please", "sorry", "much", "very", "that", "this",
}

// wordsOf returns the words of a pattern without those that say nothing. What marks
// a message, as "error:", says nothing only with its colon.
func wordsOf(pattern string) []string {
	words := strings.Fields(oneWay.Replace(pattern))
	for i, w := range words {
		words[i] = strings.TrimRight(w, ",.;!")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || slices.Contains(sayNothing, w) })
}
