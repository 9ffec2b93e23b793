package undo

import (
	"slices"
	"strings"
)

// without removes one change from a text that has changed since. It reverts the
// lines that the change from before to after made, if the later changes in now
// touch other lines. ok is false if they overlap, since undoing would then lose
// the later change.
func without(before, after, now string) (text string, ok bool) {
	was, made, is := lines(before), lines(after), lines(now)
	from, to := differ(made, was)  // lines of made that the change wrote
	begin, end := differ(made, is) // lines of made that changed since
	switch later := is[begin : len(is)-(len(made)-end)]; {
	case from == to && begin == end && from == begin:
		return "", false
	case end <= from:
		return join(made[:begin], later, made[end:from], was[from:len(was)-(len(made)-to)], made[to:]), true
	case to <= begin:
		return join(made[:from], was[from:len(was)-(len(made)-to)], made[to:begin], later, made[end:]), true
	}
	return "", false
}

// differ returns the part of a, as [from, to), that is different in other.
func differ(a, other []string) (from, to int) {
	for from < min(len(a), len(other)) && a[from] == other[from] {
		from++
	}
	to = len(a)
	for n := len(other); to > from && n > from && a[to-1] == other[n-1]; n-- {
		to--
	}
	return from, to
}

// lines splits a text. A line break at its end does not count as another line.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func join(parts ...[]string) string {
	all := slices.Concat(parts...)
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "\n") + "\n"
}
