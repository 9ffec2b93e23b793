// Package repetition notices that a text repeats itself without end, as small
// models do when they get stuck.
//
// Only exact repetitions of one unit count, and only many of them, since long
// tables, pictures in ASCII, arrays of zeros and logs repeat themselves, too.
//
// The package must not know Hermes. Start at Detector.
package repetition

import (
	"strings"
	"unicode"
)

// Limits say how much repetition is too much.
type Limits struct {
	// Symbols is how often a unit of at most 64 bytes without letters and digits
	// may be repeated, such as "-\n".
	Symbols int
	// Bytes is how long a repetition of any unit of at most 3,200 bytes may be.
	Bytes int
}

// The limits of what a model writes. The largest legitimate repetitions that we
// know are arrays of some thousand zeros.
var (
	Text      = Limits{Symbols: 1000, Bytes: 32 << 10}
	Arguments = Limits{Symbols: 8000, Bytes: 64 << 10} // often whole files
)

const (
	longestSymbols = 64
	longestUnit    = 3200
	fewest         = 10 // repetitions
	step           = 256
	steps          = 8 // after which longer units are looked for
)

// Detector reads a streamed text. It is made with its limits and reads one text.
// It must not be used concurrently.
type Detector struct {
	Limits Limits
	tail   []byte
	grown  int // bytes since the last check
	checks int
}

// Add takes the next piece of the text. If the text now ends in a repetition that
// exceeds the limits, it returns the repeated unit and how often it came. How the
// text is cut into pieces does not matter.
func (d *Detector) Add(text string) (unit string, times int) {
	for text != "" {
		n := min(step-d.grown, len(text))
		d.tail = append(d.tail, text[:n]...)
		d.grown, text = d.grown+n, text[n:]
		if d.grown < step {
			return "", 0
		}
		d.grown = 0
		d.checks++
		if unit, times = d.check(); times > 0 {
			return unit, times
		}
		if keep := d.Limits.Bytes + 2*longestUnit; len(d.tail) > 2*keep {
			d.tail = append(d.tail[:0], d.tail[len(d.tail)-keep:]...)
		}
	}
	return "", 0
}

func (d *Detector) check() (unit string, times int) {
	unit, times = ending(d.tail, longestSymbols)
	if times == 0 && d.checks%steps == 0 {
		unit, times = ending(d.tail, longestUnit)
	}
	switch {
	case times < fewest:
	case times >= d.Limits.Symbols && len(unit) <= longestSymbols && onlySymbols(unit):
		return unit, times
	case times*len(unit) >= d.Limits.Bytes:
		return unit, times
	}
	return "", 0
}

// Shorten leaves a few of the repetitions at the end of a text.
func Shorten(text string) string {
	const shown = 3
	unit, times := ending([]byte(text), longestSymbols)
	if times == 0 {
		unit, times = ending([]byte(text), longestUnit)
	}
	if times <= shown {
		return text
	}
	return text[:len(text)-(times-shown)*len(unit)]
}

// ending returns the shortest unit of at most longest bytes that the text ends
// in more than once, and how often. It looks only at texts of at least twice the
// longest unit, so that the unit is certain.
func ending(text []byte, longest int) (unit string, times int) {
	if len(text) < 2*longest {
		return "", 0
	}
	p := period(text[len(text)-2*longest:])
	if p > longest {
		return "", 0
	}
	run := p
	for run < len(text) && text[len(text)-1-run] == text[len(text)-1-run+p] {
		run++
	}
	return string(text[len(text)-p:]), run / p
}

// period returns the length of the shortest unit that the whole text repeats; its
// last repetition may be cut. It is the failure function of Knuth, Morris and
// Pratt.
func period(text []byte) int {
	border := make([]int32, len(text))
	for i := 1; i < len(text); i++ {
		b := border[i-1]
		for b > 0 && text[i] != text[b] {
			b = border[b-1]
		}
		if text[i] == text[b] {
			b++
		}
		border[i] = b
	}
	return len(text) - int(border[len(text)-1])
}

// onlySymbols reports whether a unit has neither letters nor digits. The unit may
// begin within a character.
func onlySymbols(unit string) bool {
	return !strings.ContainsFunc(unit+unit, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}
