package patch

import "strings"

const (
	// likeLine is the lowest likeness at which two lines count as the same line, changed.
	likeLine = 0.7
	// nearLine is the same threshold for context-aware matches, which have no anchors.
	nearLine = 0.8
	// maxWork bounds the similarity strategies: words of the passage times bytes
	// of the file, about a second at worst. Past it they find nothing.
	maxWork = 500_000_000
)

// findAnchored finds blocks whose first and last lines equal those of old and
// whose lines between resemble old's: more than half of them must.
func findAnchored(d *document, old string) []span {
	want, open := linesOf(old)
	n := len(want)
	if n < 3 || len(d.lines) < n || tooMuch(d, old, n) {
		return nil
	}
	first, last := plainTrimmed(want[0]), plainTrimmed(want[n-1])
	if first == "" || last == "" {
		return nil
	}
	inner := newBlock(want[1:n-1], likeLine)
	var spans []span
	for i := 0; i+n <= len(d.lines); i++ {
		if plainTrimmed(d.line(i)) != first || plainTrimmed(d.line(i+n-1)) != last {
			continue
		}
		if inner.compare(d, i+1).alike() {
			spans = append(spans, d.block(i, n, open))
			i += n - 1
		}
	}
	return spans
}

// findSimilar finds the runs of lines that are nearly old: more than half of
// the lines, and of those between the first and the last, must resemble old's.
// Of overlapping runs the most alike is kept.
func findSimilar(d *document, old string) []span {
	want, open := linesOf(old)
	n := len(want)
	if n < 2 || len(d.lines) < n || tooMuch(d, old, n) {
		return nil
	}
	whole := newBlock(want, nearLine)
	inner := newBlock(want[1:n-1], nearLine)
	var spans []span
	best, end := 0.0, 0
	for i := 0; i+n <= len(d.lines); i++ {
		score := whole.compare(d, i)
		if !score.alike() || !inner.compare(d, i+1).alike() {
			continue
		}
		switch s := d.block(i, n, open); {
		case len(spans) == 0 || i >= end:
			spans, best, end = append(spans, s), score.sum, i+n
		case score.sum > best:
			spans[len(spans)-1], best, end = s, score.sum, i+n
		}
	}
	return spans
}

func tooMuch(d *document, old string, lines int) bool {
	return (len(old)/64+lines)*len(d.text) > maxWork
}

// block returns the span of n lines from line i on, with the last line break if
// open and there is one.
func (d *document) block(i, n int, open bool) span {
	s := span{d.lines[i].start, d.lines[i+n-1].end}
	if open && s.end < len(d.text) {
		s.end++
	}
	return s
}

// A block is a run of lines to compare others with.
type block struct {
	lines    []*likeness
	minScore float64
	seen     []map[string]float64
}

func newBlock(lines []string, minScore float64) *block {
	b := &block{minScore: minScore, seen: make([]map[string]float64, len(lines))}
	for i, l := range lines {
		b.lines = append(b.lines, newLikeness(plainTrimmed(l)))
		b.seen[i] = map[string]float64{}
	}
	return b
}

// A score is the result of comparing a run of lines with a block. Lines that
// are blank on both sides do not count.
type score struct {
	lines, like int
	sum         float64
}

// alike reports whether more than half of the lines resemble each other, or
// there were none to compare.
func (s score) alike() bool { return s.lines == 0 || 2*s.like > s.lines }

func (b *block) compare(d *document, at int) score {
	var s score
	for i, l := range b.lines {
		line := d.line(at + i)
		if l.line == "" && strings.TrimSpace(line) == "" {
			continue
		}
		s.lines++
		if r := b.likeness(i, line); r > 0 {
			s.like++
			s.sum += r
		}
	}
	return s
}

func (b *block) likeness(i int, line string) float64 {
	r, ok := b.seen[i][line]
	if !ok {
		r = b.lines[i].atLeast(strings.TrimSpace(plain(line).text), b.minScore)
		b.seen[i][line] = r
	}
	return r
}
