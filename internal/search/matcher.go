package search

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// A Matcher finds the lines that a regular expression matches. It may be used
// concurrently.
type Matcher struct {
	re      *regexp.Regexp
	needles []needle
	fold    bool // some needle folds case
	exact   bool // a needle found is a match, re need not run
	byLine  bool // re must see one line at a time
	lineEnd bool // re has $: carriage returns matter
}

// NewMatcher compiles a pattern in Go's (RE2) syntax; ^ and $ match at lines.
// The error is a text for the author of the pattern.
func NewMatcher(pattern string) (*Matcher, error) {
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return nil, fmt.Errorf("not a valid regular expression: %w", err)
	}
	tree, err := syntax.Parse("(?m)"+pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("not a valid regular expression: %w", err)
	}
	tree = tree.Simplify()
	m := &Matcher{re: re}
	m.needles, m.exact = needles(tree)
	for _, n := range m.needles {
		m.fold = m.fold || n.fold
	}
	m.byLine = uses(tree, syntax.OpBeginText) || uses(tree, syntax.OpEndText)
	m.lineEnd = uses(tree, syntax.OpEndLine)
	return m, nil
}

// NewTextMatcher makes a matcher for literal text.
func NewTextMatcher(text string) *Matcher {
	m, err := NewMatcher(regexp.QuoteMeta(text))
	if err != nil {
		panic("search: quoted text is not a pattern: " + err.Error())
	}
	return m
}

func uses(re *syntax.Regexp, op syntax.Op) bool {
	if re.Op == op {
		return true
	}
	for _, sub := range re.Sub {
		if uses(sub, op) {
			return true
		}
	}
	return false
}

// lines calls found for each line of text that matches, with the offsets of
// the line (without its line break) and of the match in it, until found
// returns false. text should end at the end of a line or of the file.
func (m *Matcher) lines(text []byte, found func(start, end, at int) bool) {
	byLine := m.byLine || m.lineEnd && bytes.IndexByte(text, '\r') >= 0
	prefilter := m.needles != nil && !(m.fold && foldsToASCII(text))
	next := make([]int, len(m.needles))
	for i := range next {
		next[i] = -1
	}
	for from := 0; from < len(text); {
		at := from
		switch {
		case prefilter:
			at = m.nextNeedle(text, from, next)
		case !byLine:
			at = m.nextMatch(text, from)
		}
		if at < 0 {
			return
		}
		start, end := lineAround(text, from, at)
		if hit := m.inLine(text[start:end], at-start, prefilter); hit >= 0 && !found(start, end, hit) {
			return
		}
		from = end + 1
		for from <= len(text) && text[from-1] != '\n' && from < len(text) {
			from++ // skip the carriage return that was cut from the line
		}
	}
}

// inLine returns the position of the match in the line, or -1.
func (m *Matcher) inLine(line []byte, at int, prefiltered bool) int {
	if m.exact && prefiltered {
		return at
	}
	if loc := m.re.FindIndex(line); loc != nil {
		return loc[0]
	}
	return -1
}

func (m *Matcher) nextMatch(text []byte, from int) int {
	loc := m.re.FindIndex(text[from:])
	if loc == nil || from+loc[0] == len(text) && text[len(text)-1] == '\n' {
		return -1 // none, or only an empty match after the last line
	}
	return from + loc[0]
}

// nextNeedle returns the position of the first needle at or after from. next
// remembers earlier results, so that no part is searched twice for one needle.
func (m *Matcher) nextNeedle(text []byte, from int, next []int) int {
	best := -1
	for i := range m.needles {
		if next[i] < from {
			next[i] = len(text)
			if at := m.needles[i].index(text[from:]); at >= 0 {
				next[i] = from + at
			}
		}
		if next[i] < len(text) && (best < 0 || next[i] < best) {
			best = next[i]
		}
	}
	return best
}

// lineAround returns the line that contains at, without its line break. It does
// not begin before from.
func lineAround(text []byte, from, at int) (start, end int) {
	start = from + bytes.LastIndexByte(text[from:at], '\n') + 1
	end = len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > start && text[end-1] == '\r' && end < len(text) {
		end--
	}
	return start, max(end, start)
}
