package ansi

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// erased marks in stripped text that the program erased the line so far. It
// cannot occur otherwise, since control characters are removed.
const erased = '\x18'

// maxState bounds what may be a state of a progress display, in bytes.
const maxState = 4096

// Readable converts stripped output to text: valid UTF-8 with plain line ends.
// Of a progress display that overwrites itself with carriage returns the last
// state is left. Other text that a terminal would overwrite stays, as lines.
func Readable(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsAny(s, "\r\x18") {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		body, end := strings.CutSuffix(line, "\n")
		b.WriteString(strings.Join(withoutCounters(rows(body)), "\n"))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// rows returns what is left of a line that a program wrote in several states.
func rows(line string) []string {
	if !strings.ContainsAny(line, "\r\x18") {
		return []string{line}
	}
	var out []string
	for state := range strings.SplitSeq(line, "\r") {
		if i := strings.LastIndexByte(state, erased); i >= 0 {
			state = state[i+1:]
			out = out[:max(len(out)-1, 0)]
		}
		last := len(out) - 1
		switch {
		case state == "":
		case last >= 0 && blankOver(out[last], state):
			out = out[:last]
		case strings.TrimSpace(state) == "":
		case last >= 0 && nextState(out[last], state):
			out[last] = state
		default:
			out = append(out, state)
		}
	}
	return out
}

// blankOver reports whether a state is blanks that cover the one before.
func blankOver(before, state string) bool {
	return strings.TrimSpace(state) == "" && len(before) <= maxState && utf8.RuneCountInString(state) >= utf8.RuneCountInString(strings.TrimRight(before, " "))
}

// nextState reports whether b is the next state of the progress that a shows, so
// that nothing is lost with a.
func nextState(a, b string) bool {
	if len(a) > maxState || len(b) > maxState {
		return false
	}
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if spins(a, b) || goesOn(a, b) {
		return true
	}
	if p, ok := percent(a); ok {
		q, ok := percent(b)
		return ok && p.follows(q)
	}
	if p, ok := ratio(a); ok {
		q, ok := ratio(b)
		return ok && p.total == q.total && p.follows(q)
	}
	return measures(a) && measures(b) && words(a) == words(b)
}

// spinning are the characters that turn around at one end of a line.
const spinning = " |/-\\.…"

// spins reports whether two states differ only in a spinner, or both begin with
// one of the special characters for it.
func spins(a, b string) bool {
	if braille(a) && braille(b) {
		return true
	}
	bare := strings.Trim(a, spinning)
	return a != b && bare != "" && bare == strings.Trim(b, spinning)
}

func braille(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= '\u2801' && r <= '\u28ff' || strings.ContainsRune("◐◓◑◒◴◷◶◵▖▘▝▗", r)
}

// goesOn reports whether b is a with more text, in whole words.
func goesOn(a, b string) bool {
	rest, ok := strings.CutPrefix(b, a)
	if !ok || rest == "" || a == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(a)
	next, _ := utf8.DecodeRuneInString(rest)
	return !letterOrDigit(last) || !letterOrDigit(next)
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// A position is how far a progress is.
type position struct {
	head       string // the text before it
	now, total float64
}

// follows reports whether q is the same progress as p, as far or farther.
func (p position) follows(q position) bool { return p.now <= q.now && p.head == q.head }

// percent finds the first number with a percent sign.
func percent(s string) (position, bool) {
	for i := range len(s) {
		if s[i] != '%' {
			continue
		}
		end := len(strings.TrimSuffix(s[:i], " "))
		if now, start, ok := numberBefore(s[:end]); ok {
			return position{head(s[:start]), now, 100}, true
		}
	}
	return position{}, false
}

// ratio finds the first number with its total: 3/10, 1.2MB/3.4MB, 5 of 10.
func ratio(s string) (position, bool) {
	for _, between := range []string{"/", " of "} {
		for from := 0; ; {
			i := strings.Index(s[from:], between)
			if i < 0 {
				break
			}
			i += from
			from = i + len(between)
			left := strings.TrimRight(s[:i], " ")
			left = strings.TrimRightFunc(left, unicode.IsLetter)
			now, start, ok := numberBefore(left)
			total, also := numberAfter(strings.TrimLeft(s[from:], " "))
			if ok && also && now <= total {
				return position{head(s[:start]), now, total}, true
			}
		}
	}
	return position{}, false
}

func inNumber(r rune) bool { return r >= '0' && r <= '9' || r == '.' }

// numberBefore reads the number at the end of a text, and where it begins.
func numberBefore(s string) (n float64, start int, ok bool) {
	start = len(strings.TrimRightFunc(s, inNumber))
	n, err := strconv.ParseFloat(s[start:], 64)
	return n, start, err == nil
}

func numberAfter(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s[:len(s)-len(strings.TrimLeftFunc(s, inNumber))], 64)
	return n, err == nil
}

// drawing are the characters of bars and their frames.
const drawing = "=#>█▉▊▋▌▍▎▏░▒▓━╸╺■▬-[]()|<"

// head returns the words of a text without bars and plain numbers.
func head(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune(drawing, r) {
			return ' '
		}
		return r
	}, s)
	fields := strings.Fields(s)
	kept := fields[:0]
	for _, f := range fields {
		if strings.Trim(f, "0123456789.,") != "" {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

// measures reports whether a line has a rate, a time that is left, or is a row
// of many numbers, as download meters are.
func measures(s string) bool {
	if strings.Contains(s, "/s") && strings.ContainsAny(s, "0123456789") || strings.Contains(strings.ToLower(s), "eta ") {
		return true
	}
	fields := strings.Fields(s)
	for _, f := range fields {
		if !strings.ContainsAny(f[:1], "0123456789-") {
			return false
		}
	}
	return len(fields) >= 6 && strings.Contains(s, ":")
}

// words returns a text without its numbers, the units at them, and bars.
func words(s string) string {
	fields := strings.FieldsFunc(head(s), func(r rune) bool { return r == ' ' || r == '=' || r == ':' || r == ',' })
	kept := fields[:0]
	for _, f := range fields {
		if f[0] < '0' || f[0] > '9' {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, " ")
}

const (
	// maxCounters bounds the rows in a line that differ only in numbers.
	maxCounters = 20
	// shownCounters is how many of more are shown at either end.
	shownCounters = 5
)

// withoutCounters leaves out the middle of a long run of rows that differ only in
// numbers, and says so. They may be progress or data.
func withoutCounters(rows []string) []string {
	if len(rows) <= maxCounters {
		return rows
	}
	var out []string
	for from := 0; from < len(rows); {
		to := from + 1
		for shape := digitless(rows[from]); to < len(rows) && digitless(rows[to]) == shape; {
			to++
		}
		run := rows[from:to]
		if len(run) > maxCounters {
			out = append(out, run[:shownCounters]...)
			out = append(out, fmt.Sprintf("[… %d lines that differ only in numbers, each written over the one before, are left out …]", len(run)-2*shownCounters))
			run = run[len(run)-shownCounters:]
		}
		out = append(out, run...)
		from = to
	}
	return out
}

// digitless returns a text without its digits.
func digitless(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
