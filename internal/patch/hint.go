package patch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hermes/internal/order"
	"hermes/internal/text"
)

const (
	// likeHint is the lowest likeness at which a line is worth showing.
	likeHint = 0.6
	// shownHints bounds the places a hint shows.
	shownHints = 3
	// hintedLines and hintedBytes bound the part of a file that is searched for
	// a hint.
	hintedLines = 50_000
	hintedBytes = 4 << 20
	// maxCandidates bounds the lines that are weighed.
	maxCandidates = 1000
)

// notFound returns the error for a passage that no strategy could find, with
// the most similar lines if there are any, and the place of the new text if it
// is in the file.
func notFound(doc *document, old, new string) error {
	hint, present := didYouMean(doc, old), doc.presence(new)
	if hint != "" {
		return fmt.Errorf("old_string was not found, nothing was changed.%s Did you mean:\n%s\nQuote the passage as it is in the file", present, hint)
	}
	if present != "" {
		return fmt.Errorf("old_string was not found, nothing was changed.%s Else read the file again and quote the passage exactly as it is there", present)
	}
	return errors.New("old_string was not found, nothing was changed: read the file again and quote the passage exactly as it is there")
}

// didYouMean shows lines that resemble the first distinctive line of old, each
// with its neighbours and numbered from 1. It returns "" if there are none. In a
// big file it looks around the first place that has the line's longest word.
func didYouMean(doc *document, old string) string {
	wanted, offset := distinctiveLine(old)
	var blocks []string
	size := min(strings.Count(strings.TrimSuffix(old, "\n"), "\n")+1, 8)
	var shown []int
	for _, p := range candidates(doc, wanted) {
		if len(shown) == shownHints {
			break
		}
		if slices.ContainsFunc(shown, func(l int) bool { return abs(l-p.line) <= size }) {
			continue
		}
		shown = append(shown, p.line)
		blocks = append(blocks, excerpt(doc, p, min(offset, 2)+1, size+1))
	}
	return strings.Join(blocks, "\n---\n")
}

// A candidate is a line that resembles the one that was asked for.
type candidate struct {
	start, line int // where it begins, its index
	score       float64
}

// candidates returns the lines that resemble wanted, the most alike first.
func candidates(doc *document, wanted string) []candidate {
	like := newLikeness(wanted)
	from := hintWindow(doc, wanted)
	line := doc.lineAt(from)
	last := line + hintedLines
	var list []candidate
	for s := range doc.linesFrom(from) {
		if line == last || s.start-from > hintedBytes || len(list) == maxCandidates {
			break
		}
		if r := like.atLeast(doc.at(s), likeHint); r > 0 {
			list = append(list, candidate{s.start, line, r})
		}
		line++
	}
	order.By(list, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return list
}

// hintWindow returns the start of the line from which on similar lines are
// looked for.
func hintWindow(doc *document, wanted string) int {
	if len(doc.text) <= hintedBytes {
		return 0
	}
	word := ""
	for w := range strings.FieldsFuncSeq(wanted, func(r rune) bool { return !wordRune(r) }) {
		if len(w) > len(word) {
			word = w
		}
	}
	at := max(strings.Index(doc.text, word), 0)
	return max(doc.lineOf(max(at-hintedBytes/4, 0)).start, doc.back(doc.lineOf(at).start, hintedLines/4))
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

// excerpt shows a line with lines above and below it, numbered from 1.
func excerpt(doc *document, p candidate, above, below int) string {
	above = min(above, p.line)
	var out []string
	for s := range doc.linesFrom(doc.back(p.start, above)) {
		out = append(out, fmt.Sprintf("%5d| %s", p.line-above+len(out)+1, text.Clip(doc.at(s), 200)))
		if len(out) == above+below {
			break
		}
	}
	return strings.Join(out, "\n")
}
