package patch

import (
	"fmt"
	"strings"
)

const (
	// maxEdits bounds the changed lines that are computed one by one. Past it
	// the whole middle of a comparison counts as replaced.
	maxEdits = 1500
	// context is the number of unchanged lines shown around a change.
	context = 3
)

// Unified returns the difference of two texts as a unified diff with three
// lines of context, or "" if they are equal. The names go into the header as
// they are; pass /dev/null for a file that did not or does not exist. Texts
// that differ in more than 1,500 scattered lines are shown as one replaced
// block.
func Unified(oldName, newName, old, new string) string {
	if old == new {
		return ""
	}
	a, b := terminated(old), terminated(new)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks(changes(a, b, maxEdits)) {
		h.write(&out, a, b)
	}
	return out.String()
}

// terminated splits a text into lines that keep their line breaks.
func terminated(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// A change says that lines a1..a2 of the old became b1..b2 of the new, ends
// excluded; either side may be empty.
type change struct{ a1, a2, b1, b2 int }

// changes returns the differences of two lists in order. Past limit edits their
// whole middle counts as replaced.
func changes[T comparable](a, b []T, limit int) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	list := myers(a[head:len(a)-tail], b[head:len(b)-tail], limit)
	for i := range list {
		list[i].a1 += head
		list[i].a2 += head
		list[i].b1 += head
		list[i].b2 += head
	}
	return list
}

// myers finds a shortest edit script (E. W. Myers, 1986), forward and greedy,
// keeping each round's frontier to walk back along.
func myers[T comparable](a, b []T, limit int) []change {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		if n+m == 0 {
			return nil
		}
		return []change{{0, n, 0, m}}
	}
	limit = min(n+m, limit)
	at := make([]int, 2*limit+3) // furthest x on each diagonal, shifted by limit+1
	var rounds [][]int
	for d := 0; d <= limit; d++ {
		rounds = append(rounds, append([]int(nil), at[limit+1-d:limit+2+d]...))
		for k := -d; k <= d; k += 2 {
			x := at[limit+1+k-1] + 1
			if k == -d || k != d && at[limit+1+k+1] > x-1 {
				x = at[limit+1+k+1]
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			at[limit+1+k] = x
			if x >= n && x-k >= m {
				return walkBack(rounds, n, m)
			}
		}
	}
	return []change{{0, n, 0, m}}
}

// walkBack turns the frontiers into changes, joining neighbours.
func walkBack(rounds [][]int, n, m int) []change {
	var list []change
	x, y := n, m
	for d := len(rounds) - 1; d > 0; d-- {
		v := func(k int) int { return rounds[d][k+d] } // frontier before round d
		k := x - y
		down := k == -d || k != d && v(k-1) < v(k+1)
		from := k + 1
		if !down {
			from = k - 1
		}
		px := v(from)
		py := px - from
		step := change{px, px, py, py + 1}
		if !down {
			step = change{px, px + 1, py, py}
		}
		if last := len(list) - 1; last >= 0 && list[last].a1 == step.a2 && list[last].b1 == step.b2 {
			list[last].a1, list[last].b1 = step.a1, step.b1
		} else {
			list = append(list, step)
		}
		x, y = px, py
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// A hunk is a group of changes near each other.
type hunk []change

func hunks(list []change) []hunk {
	var out []hunk
	for _, c := range list {
		if last := len(out) - 1; last >= 0 {
			h := out[last]
			if c.a1-h[len(h)-1].a2 <= 2*context {
				out[last] = append(h, c)
				continue
			}
		}
		out = append(out, hunk{c})
	}
	return out
}

func (h hunk) write(out *strings.Builder, a, b []string) {
	first, last := h[0], h[len(h)-1]
	lead := min(context, first.a1)
	trail := min(context, len(a)-last.a2)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		extent(first.a1-lead, last.a2+trail), extent(first.b1-lead, last.b2+trail))
	at := first.a1 - lead
	for _, c := range h {
		writeLines(out, ' ', a[at:c.a1])
		writeLines(out, '-', a[c.a1:c.a2])
		writeLines(out, '+', b[c.b1:c.b2])
		at = c.a2
	}
	writeLines(out, ' ', a[at:at+trail])
}

func extent(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func writeLines(out *strings.Builder, sign byte, lines []string) {
	for _, l := range lines {
		out.WriteByte(sign)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
