// Package repetition notices that a text repeats itself without end, as small
// models do when they get stuck.
//
// Only exact repetitions of one unit count, and only many of them, since long
// tables, pictures in ASCII, arrays of zeros and logs repeat themselves, too.
//
// The package must not know Hermes. Start at Detector.
package repetition

import (
	"bytes"
	"strings"
	"time"
	"unicode"
)

// Limits say how much repetition is too much.
type Limits struct {
	// Symbols is how often a unit of at most 64 bytes without letters and digits
	// may be repeated, such as "-\n".
	Symbols int
	// Bytes is how long a repetition of any unit of at most 3,200 bytes may be.
	// SlowBytes holds for a repetition that has gone on for more than SlowAfter: a
	// model that repeats 8 KB for minutes is stuck, while a fast one may well write
	// a large table.
	Bytes, SlowBytes int
}

// SlowAfter is how long a repetition may go on before Limits.SlowBytes holds for it.
const SlowAfter = time.Minute

// The limits of what a model writes.
var (
	Text      = Limits{Symbols: 1000, Bytes: 512 << 10, SlowBytes: 8 << 10}
	Arguments = Limits{Symbols: 8000, Bytes: 512 << 10, SlowBytes: 64 << 10} // often whole files: 5,000 lines of zeros are 50 KB
)

const (
	longestSymbols = 64
	longestUnit    = 3200
	fewest         = 10 // repetitions
	step           = 256
	steps          = 8        // after which longer units are looked for
	kept           = 64 << 10 // bytes of the text
)

// Detector reads a streamed text. It is made with its limits and reads one text.
// It must not be used concurrently.
type Detector struct {
	Limits Limits
	tail   []byte
	grown  int // bytes since the last check
	checks int
	unit   int       // the length of the unit in which the text ended at the last check, 0 for none
	run    int       // how many bytes at the end repeated it
	since  time.Time // when the run was found
}

// Add takes the next piece of the text. If the text now ends in a repetition that
// exceeds the limits, Add returns the repeated unit and how often it came. What came
// before the repetition, and how long that took, does not matter, nor how the text is
// cut into pieces. Add calls clock once in 256 bytes.
func (d *Detector) Add(text string, clock func() time.Time) (unit string, times int) {
	for text != "" {
		n := min(step-d.grown, len(text))
		d.tail = append(d.tail, text[:n]...)
		d.grown, text = d.grown+n, text[n:]
		if d.grown < step {
			return "", 0
		}
		d.grown = 0
		d.checks++
		now := clock()
		d.look(now)
		if unit, times = d.exceeds(now); times > 0 {
			return unit, times
		}
		if len(d.tail) > 2*kept {
			d.tail = append(d.tail[:0], d.tail[len(d.tail)-kept:]...)
		}
	}
	return "", 0
}

// look finds the unit in which the text ends, or sees whether the known one goes
// on.
func (d *Detector) look(now time.Time) {
	if n := len(d.tail); d.unit > 0 && bytes.Equal(d.tail[n-step:], d.tail[n-step-d.unit:n-d.unit]) {
		d.run += step
		return
	}
	d.unit, d.run = ending(d.tail, longestSymbols)
	if d.unit == 0 && d.checks%steps == 0 {
		d.unit, d.run = ending(d.tail, longestUnit)
	}
	d.since = now
}

func (d *Detector) exceeds(now time.Time) (unit string, times int) {
	if d.unit == 0 || d.run < fewest*d.unit {
		return "", 0
	}
	unit, times = string(d.tail[len(d.tail)-d.unit:]), d.run/d.unit
	switch {
	case times >= d.Limits.Symbols && len(unit) <= longestSymbols && onlySymbols(unit):
	case d.run >= d.Limits.Bytes:
	case d.run >= d.Limits.SlowBytes && now.Sub(d.since) > SlowAfter:
	default:
		return "", 0
	}
	return unit, times
}

// Shorten leaves a few of the repetitions at the end of a text.
func Shorten(text string) string {
	const shown = 3
	unit, run := ending([]byte(text), longestSymbols)
	if unit == 0 {
		unit, run = ending([]byte(text), longestUnit)
	}
	if unit == 0 || run/unit <= shown {
		return text
	}
	return text[:len(text)-(run/unit-shown)*unit]
}

// ending returns the length of the shortest unit of at most longest bytes that the
// text ends in more than once, and how many bytes repeat it. It looks only at texts
// of at least twice the longest unit, so that the unit is certain.
func ending(text []byte, longest int) (unit, run int) {
	if len(text) < 2*longest {
		return 0, 0
	}
	p := period(text[len(text)-2*longest:])
	if p > longest {
		return 0, 0
	}
	run = p
	for run < len(text) && text[len(text)-1-run] == text[len(text)-1-run+p] {
		run++
	}
	return p, run
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
