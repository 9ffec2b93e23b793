package undo

import (
	"slices"
	"strings"
)

// without takes one change out of a text that was changed further since: what
// the change made of before is put back in now, where both changed other lines.
// ok is false where they did not, so that taking back would lose the later one.
func without(before, after, now string) (text string, ok bool) {
	was, made, is := lines(before), lines(after), lines(now)
	from, to := differ(made, was)  // the lines of made that the change wrote
	begin, end := differ(made, is) // those that were changed since
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

// differ is the part of a, as [from, to), that other has in its own way.
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

// lines cuts a text; the last line counts as ended.
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
