package patch

import "math/bits"

// maxCompared bounds how much of a line is compared, in bytes.
const maxCompared = 1024

// A likeness measures how similar lines are to one given line, by the longest
// common subsequence of their bytes: 1 is equal, 0 is nothing in common.
type likeness struct {
	line  string
	masks map[byte][]uint64 // for each byte, the positions where line has it
	state []uint64
}

func newLikeness(line string) *likeness {
	line = line[:min(len(line), maxCompared)]
	l := &likeness{line: line, masks: map[byte][]uint64{}}
	words := (len(line) + 63) / 64
	l.state = make([]uint64, words)
	for i := range len(line) {
		mask := l.masks[line[i]]
		if mask == nil {
			mask = make([]uint64, words)
			l.masks[line[i]] = mask
		}
		mask[i/64] |= 1 << (i % 64)
	}
	return l
}

// atLeast returns the likeness of other, or 0 if it is below minScore.
func (l *likeness) atLeast(other string, minScore float64) float64 {
	other = other[:min(len(other), maxCompared)]
	if l.line == other {
		return 1
	}
	total := float64(len(l.line) + len(other))
	if 2*float64(min(len(l.line), len(other)))/total < minScore {
		return 0
	}
	if r := 2 * float64(l.common(other)) / total; r >= minScore {
		return r
	}
	return 0
}

// common returns the length of the longest common subsequence, 64 positions at a
// time (Hyyrö's bit-parallel form: zero bits of the state count the matches).
func (l *likeness) common(other string) int {
	for i := range l.state {
		l.state[i] = ^uint64(0)
	}
	for i := range len(other) {
		mask := l.masks[other[i]]
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
		if rest := len(l.line) - 64*w; rest < 64 {
			v |= ^uint64(0) << rest
		}
		n += 64 - bits.OnesCount64(v)
	}
	return n
}
