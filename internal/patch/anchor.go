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
func findAnchored(d *document, old string, keep func(span) bool) matches {
	var found matches
	want, open := linesOf(old)
	n := len(want)
	if n < 3 || tooMuch(d, old, n) {
		return found
	}
	first, last := plainTrimmed(want[0]), plainTrimmed(want[n-1])
	if first == "" || last == "" {
		return found
	}
	inner := newBlock(want[1:n-1], likeLine)
	end := 0
	for lines := range d.windows(n) {
		if lines[0].start < end || !readsPlain(d.at(lines[0]), first) || !readsPlain(d.at(lines[n-1]), last) {
			continue
		}
		if s := d.block(lines, open); inner.compare(d, lines[1:n-1]).alike() && keep(s) {
			found.add(s)
			end = s.end
		}
	}
	return found
}

// findSimilar finds the runs of lines that are nearly old: more than half of
// the lines, and of those between the first and the last, must resemble old's.
// Of overlapping runs the most alike is kept.
func findSimilar(d *document, old string, keep func(span) bool) matches {
	var found matches
	want, open := linesOf(old)
	n := len(want)
	if n < 2 || tooMuch(d, old, n) {
		return found
	}
	whole := newBlock(want, nearLine)
	inner := newBlock(want[1:n-1], nearLine)
	best, end := 0.0, -1
	for lines := range d.windows(n) {
		score := whole.compare(d, lines)
		if !score.alike() || !inner.compare(d, lines[1:n-1]).alike() {
			continue
		}
		s := d.block(lines, open)
		switch {
		case !keep(s):
		case s.start >= end:
			found.add(s)
			best, end = score.sum, lines[n-1].end
		case score.sum > best && found.count <= maxSpans:
			found.spans[len(found.spans)-1] = s
			best, end = score.sum, lines[n-1].end
		}
	}
	return found
}

func tooMuch(d *document, old string, lines int) bool {
	return (len(old)/64+lines)*len(d.text) > maxWork
}

// block returns the span of lines, with the last line break if open and there
// is one.
func (d *document) block(lines []span, open bool) span {
	s := span{lines[0].start, lines[len(lines)-1].end}
	if open && s.end < len(d.text) {
		s.end++
	}
	return s
}

// A block is a run of lines to compare others with.
type block struct {
	lines    []*likeness
	minScore float64
	seen     []map[string]float64 // lines compared before, by line of the block
	maxSeen  int
}

// maxSeen bounds the comparisons that a block remembers.
const maxSeen = 1 << 14

func newBlock(lines []string, minScore float64) *block {
	b := &block{minScore: minScore, seen: make([]map[string]float64, len(lines)), maxSeen: maxSeen / max(len(lines), 1)}
	for i, l := range lines {
		b.lines = append(b.lines, newLikeness(l))
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

func (b *block) compare(d *document, lines []span) score {
	var s score
	for i, l := range b.lines {
		line := d.at(lines[i])
		if l.size == 0 && strings.TrimSpace(line) == "" {
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
		if len(b.seen[i]) >= b.maxSeen {
			clear(b.seen[i])
		}
		r = b.lines[i].atLeast(line, b.minScore)
		b.seen[i][line] = r
	}
	return r
}
