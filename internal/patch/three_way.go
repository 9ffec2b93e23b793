package patch

import (
	"slices"
	"strings"
)

// Merge makes the changes of both sides to one text: what ours changed in base and what
// theirs changed in it. ok is false if they changed the same or neighbouring lines in
// different ways; then the text is "". Line breaks stay as they are.
func Merge(base, ours, theirs string) (text string, ok bool) {
	lines := strings.SplitAfter(base, "\n")
	left, right := strings.SplitAfter(ours, "\n"), strings.SplitAfter(theirs, "\n")
	a, b := changes(lines, left, maxEdits), changes(lines, right, maxEdits)
	var out strings.Builder
	at := 0
	take := func(c change, from []string) {
		writeAll(&out, lines[at:c.a1])
		writeAll(&out, from[c.b1:c.b2])
		at = c.a2
	}
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].a2 < b[0].a1:
			take(a[0], left)
			a = a[1:]
		case len(a) == 0 || b[0].a2 < a[0].a1:
			take(b[0], right)
			b = b[1:]
		case a[0].a1 == b[0].a1 && a[0].a2 == b[0].a2 && slices.Equal(left[a[0].b1:a[0].b2], right[b[0].b1:b[0].b2]):
			take(a[0], left)
			a, b = a[1:], b[1:]
		default:
			return "", false
		}
	}
	writeAll(&out, lines[at:])
	return out.String(), true
}

func writeAll(out *strings.Builder, lines []string) {
	for _, l := range lines {
		out.WriteString(l)
	}
}
