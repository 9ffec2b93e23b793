package patch

import (
	"fmt"
	"strings"

	"hermes/internal/text"
)

const (
	// maxEdits bounds the changed lines that are computed one by one. Past it
	// the whole middle of a comparison counts as replaced.
	maxEdits = 1500
	// maxDiffed bounds the part of each text that is compared, in bytes.
	maxDiffed = 256 << 10
	// context is the number of unchanged lines shown around a change.
	context = 3
)

// Unified returns the difference of two texts as a unified diff with three
// lines of context, or "" if they are equal. The names go into the header as
// they are; pass /dev/null for a file that did not or does not exist. Texts
// that differ in more than 1,500 scattered lines are shown as one replaced
// block. Of texts that differ over more than 256 KB only the first changes are
// shown, and a last line says so.
func Unified(oldName, newName, old, new string) string {
	if old == new {
		return ""
	}
	f := framed(old, new)
	a, b := terminated(f.old), terminated(f.new)
	list := changes(a, b, maxEdits)
	if f.cut {
		list = withoutCutEnd(list, len(a), len(b))
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", oldName, newName)
	for _, h := range hunks(list) {
		h.write(&out, a, b, f.line)
	}
	if f.cut {
		out.WriteString("\\ More changes follow that are not shown\n")
	}
	return out.String()
}

// A frame is the part of two texts in which they differ, in whole lines and
// with the lines of context around it.
type frame struct {
	old, new string
	line     int  // lines before it
	cut      bool // it was too big and ends early
}

func framed(old, new string) frame {
	head := commonPrefix(old, new)
	tail := min(commonSuffix(old, new), min(len(old), len(new))-head)
	head = strings.LastIndexByte(old[:head], '\n') + 1
	tail = belowLine(old, tail)
	for range context {
		head = strings.LastIndexByte(old[:max(head-1, 0)], '\n') + 1
		tail = belowLine(old, tail)
	}
	f := frame{old: old[head : len(old)-tail], new: new[head : len(new)-tail], line: strings.Count(old[:head], "\n")}
	f.cut = len(f.old) > maxDiffed || len(f.new) > maxDiffed
	f.old, f.new = cutLines(f.old), cutLines(f.new)
	return f
}

// belowLine returns the size of the last n bytes of a text without the line in
// which they begin.
func belowLine(text string, n int) int {
	i := strings.IndexByte(text[len(text)-n:], '\n')
	if i < 0 {
		return 0
	}
	return n - i - 1
}

// cutLines cuts a text to at most maxDiffed bytes, at the end of a line if there
// is one.
func cutLines(s string) string {
	if len(s) <= maxDiffed {
		return s
	}
	if i := strings.LastIndexByte(s[:maxDiffed], '\n'); i >= 0 {
		return s[:i+1]
	}
	return text.Clip(s, maxDiffed)
}

// withoutCutEnd drops the change that only comes from cutting both texts, unless
// it is the only one.
func withoutCutEnd(list []change, a, b int) []change {
	last := len(list) - 1
	if last > 0 && (list[last].a2 == a || list[last].b2 == b) {
		return list[:last]
	}
	return list
}

// compareStep is the size of the blocks in which equal ends are looked for.
const compareStep = 4096

func commonPrefix(a, b string) int {
	n, shortest := 0, min(len(a), len(b))
	for n+compareStep <= shortest && a[n:n+compareStep] == b[n:n+compareStep] {
		n += compareStep
	}
	for n < shortest && a[n] == b[n] {
		n++
	}
	return n
}

func commonSuffix(a, b string) int {
	n, shortest := 0, min(len(a), len(b))
	for n+compareStep <= shortest && a[len(a)-n-compareStep:len(a)-n] == b[len(b)-n-compareStep:len(b)-n] {
		n += compareStep
	}
	for n < shortest && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
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

// write writes a hunk. before is the number of lines above both texts.
func (h hunk) write(out *strings.Builder, a, b []string, before int) {
	first, last := h[0], h[len(h)-1]
	lead := min(context, first.a1)
	trail := min(context, len(a)-last.a2)
	fmt.Fprintf(out, "@@ -%s +%s @@\n",
		extent(before+first.a1-lead, before+last.a2+trail), extent(before+first.b1-lead, before+last.b2+trail))
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
