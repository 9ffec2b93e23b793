package contextengine

import "hermes"

// cut says which entries are summed up: those from head to tail.
type cut struct{ head, tail int }

// cut finds the boundaries. It fails when nothing worth summing up lies
// between them.
func (w *work) cut(b budget, cfg Config, keep int) (cut, bool) {
	c := cut{head: w.headTo(cfg.ProtectFirst), tail: w.tailFrom(b, cfg, keep)}
	if c.tail-c.head < 2 {
		return c, false
	}
	return c, true
}

// headTo is where the head ends: after the first messages, without parting a
// call from its result. An earlier summary is never part of the head: the
// new one takes its place.
func (w *work) headTo(first int) int {
	n := 0
	for n < len(w.entries) && n < first {
		if _, _, ok := splitSummary(w.entries[n].m); ok {
			break
		}
		n++
	}
	for n < len(w.entries) && n > 0 && w.entries[n].m.Role == hermes.RoleTool {
		n++
	}
	return n
}

// tailFrom is where the tail begins: so many messages from the end as fit its
// budget, at least the configured number, always the last words of the
// person, and never a result without its call. With keep the tail is at least
// that many exchanges.
func (w *work) tailFrom(b budget, cfg Config, keep int) int {
	n, sum := len(w.entries), 0
	for n > 0 {
		cost := sizeOf(&w.entries[n-1].m)
		count := len(w.entries) - n
		over := sum+cost > b.tail && count >= cfg.ProtectLast || float64(sum+cost) > softCeiling*float64(b.tail) && count >= minTail
		if over {
			break
		}
		sum += cost
		n--
	}
	if u := w.lastUser(max(keep, 1)); u >= 0 {
		n = min(n, u)
	}
	for n > 0 && n < len(w.entries) && w.entries[n].m.Role == hermes.RoleTool {
		n--
	}
	return n
}

// lastUser is the index of the last message of the person, or of the n-th
// last; -1 if there is none.
func (w *work) lastUser(n int) int {
	found := -1
	for i := len(w.entries) - 1; i >= 0 && n > 0; i-- {
		m := &w.entries[i].m
		if m.Role == hermes.RoleUser && !m.Synthetic {
			found = i
			n--
		}
	}
	return found
}

// between is what is summed up.
func (w *work) between(c cut) []hermes.Message {
	out := make([]hermes.Message, 0, c.tail-c.head)
	for _, e := range w.entries[c.head:c.tail] {
		out = append(out, e.m)
	}
	return out
}
