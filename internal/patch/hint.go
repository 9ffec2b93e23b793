package patch

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// likeHint is the lowest likeness at which a line is worth showing.
	likeHint = 0.6
	// shownHints bounds the places a hint shows.
	shownHints = 3
	// hintedLines bounds the lines that are searched for a hint.
	hintedLines = 50_000
)

// notFound returns the error for a passage that no strategy could find, with
// the most similar lines if there are any.
func notFound(doc *document, old string) error {
	hint := didYouMean(doc, old)
	if hint == "" {
		return fmt.Errorf("old_string was not found, nothing was changed: read the file again and quote the passage exactly as it is there")
	}
	return fmt.Errorf("old_string was not found, nothing was changed. Did you mean:\n%s\nQuote the passage as it is in the file", hint)
}

// didYouMean shows lines that resemble the first distinctive line of old, each
// with its neighbours and numbered from 1. It returns "" if there are none.
func didYouMean(doc *document, old string) string {
	wanted, offset := distinctiveLine(old)
	like := newLikeness(plainTrimmed(wanted))
	type candidate struct {
		line  int
		score float64
	}
	var candidates []candidate
	for i := range min(len(doc.lines), hintedLines) {
		if r := like.atLeast(plainTrimmed(doc.line(i)), likeHint); r > 0 {
			candidates = append(candidates, candidate{i, r})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	size := min(strings.Count(strings.TrimSuffix(old, "\n"), "\n")+1, 8)
	var blocks []string
	var shown []int
	for _, p := range candidates {
		if len(shown) == shownHints {
			break
		}
		if slices.ContainsFunc(shown, func(l int) bool { return abs(l-p.line) <= size }) {
			continue
		}
		shown = append(shown, p.line)
		blocks = append(blocks, excerpt(doc, p.line-min(offset, 2)-1, p.line+size+1))
	}
	return strings.Join(blocks, "\n---\n")
}

// distinctiveLine returns the first line of old that is long enough to be
// recognised, and how many lines come before it.
func distinctiveLine(old string) (string, int) {
	lines := strings.Split(old, "\n")
	for i, l := range lines {
		if len(strings.TrimSpace(l)) >= 4 {
			return l, i
		}
	}
	for i, l := range lines {
		if strings.TrimSpace(l) != "" {
			return l, i
		}
	}
	return old, 0
}

// excerpt shows lines from..to (counted from 0, end excluded), numbered from 1.
func excerpt(doc *document, from, to int) string {
	var out []string
	for i := max(from, 0); i < min(to, len(doc.lines)); i++ {
		out = append(out, fmt.Sprintf("%5d| %s", i+1, clip(doc.line(i), 200)))
	}
	return strings.Join(out, "\n")
}
