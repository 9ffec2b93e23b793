package chooser

import (
	"strings"

	"hermes/internal/order"
)

// Match returns the indexes of the items that match a query, best first. Each
// word of the query must be in an item, as a whole or with its letters in order.
// Whole words, words at the start of a part, and early words score higher. An
// empty query matches all items in their order.
func Match(items []string, query string) []int {
	words := strings.Fields(strings.ToLower(query))
	type found struct{ index, score int }
	var fit []found
	for index, item := range items {
		score, ok := rate(strings.ToLower(item), words)
		if ok {
			fit = append(fit, found{index, score})
		}
	}
	order.By(fit, func(a, b found) int { return b.score - a.score })
	indexes := make([]int, len(fit))
	for i, f := range fit {
		indexes[i] = f.index
	}
	return indexes
}

// rate adds up how well the words match an item.
func rate(item string, words []string) (score int, ok bool) {
	for _, w := range words {
		n := rateWord(item, w)
		if n == 0 {
			return 0, false
		}
		score += n
	}
	return score, true
}

// The scores of a match. A whole word scores more than any spread one.
const (
	whole   = 10_000
	spread  = 5_000
	atStart = 2_000
)

// rateWord is 0 if the word does not match.
func rateWord(item, word string) int {
	if i := wholeAt(item, word); i >= 0 {
		n := whole - min(i, 900)
		if begins(item, i) {
			n += atStart
		}
		if end := i + len(word); end == len(item) || begins(item, end+1) {
			n += atStart / 2
		}
		return n
	}
	gaps, at, last := 0, 0, -1
	for _, r := range word {
		i := strings.IndexRune(item[at:], r)
		if i < 0 {
			return 0
		}
		if last >= 0 && i > 0 && !begins(item, at+i) {
			gaps += i
		}
		at += i + len(string(r))
		last = at
	}
	return spread - min(gaps*10, 4_000)
}

// wholeAt is the index of a word, preferably at the start of a part.
func wholeAt(item, word string) int {
	first := strings.Index(item, word)
	for i := first; i >= 0 && i < len(item); {
		if begins(item, i) {
			return i
		}
		next := strings.Index(item[i+1:], word)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return first
}

// begins reports whether a part of an item starts at i.
func begins(item string, i int) bool {
	return i == 0 || i > 0 && i <= len(item) && strings.IndexByte(":/-_. ", item[i-1]) >= 0
}
