package patch

import (
	"bytes"
	"math/bits"
	"strings"
)

// maxCompared bounds how much of a line is compared character by character, in
// bytes. Where a line is longer, the rest must be equal.
const maxCompared = 1024

// A likeness measures how similar lines are to one given line, by the longest
// common subsequence of their bytes: 1 is equal, 0 is nothing in common.
// Typographic characters count as their ASCII equivalents, and whitespace
// around a line does not count.
type likeness struct {
	head  []byte // the line's first bytes
	rest  string
	size  int
	masks [256][]uint64 // for each byte, the positions where head has it
	state []uint64
	other []byte // the start of the line that is compared
}

func newLikeness(line string) *likeness {
	l := &likeness{}
	l.rest = plain(l.read(strings.TrimSpace(line)))
	l.head = bytes.Clone(l.other)
	l.size = len(l.head) + len(l.rest)
	words := (len(l.head) + 63) / 64
	l.state = make([]uint64, words)
	for i, c := range l.head {
		if l.masks[c] == nil {
			l.masks[c] = make([]uint64, words)
		}
		l.masks[c][i/64] |= 1 << (i % 64)
	}
	return l
}

// atLeast returns the likeness of a line, or 0 if it is below minScore.
func (l *likeness) atLeast(line string, minScore float64) float64 {
	line = strings.TrimSpace(line)
	shortest := len(line) / 3 // a character of three bytes may become one
	if longest := 3 * len(line); 2*float64(min(l.size, longest)) < minScore*float64(l.size+shortest) {
		return 0
	}
	rest := l.read(line)
	if (l.rest != "" || rest != "") && !readsPlain(rest, l.rest) {
		return 0
	}
	if bytes.Equal(l.head, l.other) {
		return 1
	}
	total := float64(len(l.head) + len(l.other))
	if 2*float64(min(len(l.head), len(l.other)))/total < minScore {
		return 0
	}
	if r := 2 * float64(l.common()) / total; r >= minScore {
		return r
	}
	return 0
}

// read takes the start of a line for the comparison and returns the rest.
func (l *likeness) read(line string) (rest string) {
	l.other = l.other[:0]
	for line != "" && len(l.other) < maxCompared {
		piece, size := typographies[0].next(line)
		l.other = append(l.other, piece...)
		line = line[size:]
	}
	return line
}

// common returns the length of the longest common subsequence, 64 positions at a
// time (Hyyrö's bit-parallel form: zero bits of the state count the matches).
func (l *likeness) common() int {
	for i := range l.state {
		l.state[i] = ^uint64(0)
	}
	for _, c := range l.other {
		mask := l.masks[c]
		if mask == nil {
			continue
		}
		var carry uint64
		for w, v := range l.state {
			u := v & mask[w]
			sum, c := bits.Add64(v, u, carry)
			l.state[w], carry = sum|(v&^u), c
		}
	}
	n := 0
	for w, v := range l.state {
		if rest := len(l.head) - 64*w; rest < 64 {
			v |= ^uint64(0) << rest
		}
		n += 64 - bits.OnesCount64(v)
	}
	return n
}
