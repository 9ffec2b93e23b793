package file

import (
	"fmt"
	"slices"

	"hermes/internal/order"
)

// lines are those of one state of a file that a session has seen.
type lines struct {
	all   bool
	spans []span // in order, neither overlapping nor adjacent
	total int    // lines of the file; 0 if they were not counted
}

// A span is a part of a file, from one line up to another that is no part of it; lines count from 1.
type span struct{ from, to int }

// with returns the lines together with those of a page, which began at a line.
func (l lines) with(p page, from int) lines {
	if l.all || p.counted && !p.more && from == 1 {
		return lines{all: true}
	}
	if p.counted {
		l.total = p.total
	}
	all := append(slices.Clone(l.spans), span{from, from + p.shown})
	order.By(all, func(a, b span) int { return a.from - b.from })
	joined := all[:1]
	for _, s := range all[1:] {
		if last := &joined[len(joined)-1]; s.from <= last.to {
			last.to = max(last.to, s.to)
		} else {
			joined = append(joined, s)
		}
	}
	l.spans = joined
	l.all = l.total > 0 && joined[0].from <= 1 && joined[0].to > l.total
	return l
}

// missing names the first lines that were not seen.
func (l lines) missing() string {
	from := 1
	if len(l.spans) > 0 && l.spans[0].from <= 1 {
		from = l.spans[0].to
	}
	to := l.total
	if i := slices.IndexFunc(l.spans, func(s span) bool { return s.from > from }); i >= 0 {
		to = l.spans[i].from - 1
	}
	if to == 0 {
		return fmt.Sprintf("all from line %d on", from)
	}
	return fmt.Sprintf("lines %d to %d", from, to)
}
