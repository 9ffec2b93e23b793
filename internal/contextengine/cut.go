package contextengine

import "hermes"

// cut says which entries are summed up: those from head to tail, without
// the one at last. There the last words of the person stand when their turn
// is too long to be kept whole; otherwise it is -1.
type cut struct{ head, tail, last int }

// keep is how many exchanges stay as they are; firm ones stay whatever they
// cost.
type keep struct {
	exchanges int
	firm      bool
}

// cut finds the boundaries. It fails when nothing worth summing up lies
// between them.
func (w *work) cut(b budget, cfg Config, k keep) (cut, bool) {
	c := cut{tail: w.tailFrom(b, cfg, k), last: -1}
	c.head = min(w.headTo(cfg.ProtectFirst, b.head), c.tail)
	if u := w.lastUser(1); u >= c.head && u < c.tail {
		c.last = u
	}
	if c.last == c.head { // nothing stands between the two
		c.head, c.last = c.head+1, -1
	}
	return c, c.count() >= 2
}

// cutHard finds boundaries that leave the least: the head as far as it is
// short, and the newest message with what belongs to it. It is for a request
// that was refused and could not be made shorter in another way.
func (w *work) cutHard(b budget) (cut, bool) {
	b.tail, b.reach = 0, b.head
	c, _ := w.cut(b, Config{ProtectFirst: 1, ProtectLast: 1}, keep{})
	return c, size(w.between(c)) > b.summary
}

// count is how many messages are summed up.
func (c cut) count() int {
	if c.last >= 0 {
		return c.tail - c.head - 1
	}
	return c.tail - c.head
}

// headTo is where the head ends: after the first messages, as long as they
// leave room for the rest, without parting a call from its result. An earlier
// summary is never part of the head: the new one takes its place.
func (w *work) headTo(first, most int) int {
	n := 0
	for n < len(w.entries) && n < first && !hasSummary(w.entries[n].m) {
		n++
	}
	for n < len(w.entries) && n > 0 && w.entries[n].m.Role == hermes.RoleTool {
		n++
	}
	for n > 0 && w.size(0, n) > most {
		n--
		for n > 0 && (w.entries[n-1].m.Role == hermes.RoleTool || len(w.entries[n-1].m.Calls) > 0) {
			n--
		}
	}
	return n
}

// tailFrom is where the tail begins: so many messages from the end as fit its
// budget, at least the configured number, and never a result without its
// call. It reaches back over the exchanges to keep, or at least to the last
// words of the person, unless the turn that they began is itself too long:
// that one is cut within.
func (w *work) tailFrom(b budget, cfg Config, k keep) int {
	n := w.tailBySize(b, cfg)
	for _, exchanges := range []int{max(k.exchanges, 1), 1} {
		u := w.lastUser(exchanges)
		if u >= 0 && u < n && (k.firm || w.size(u, len(w.entries)) <= b.reach) {
			n = u
			break
		}
	}
	if last := w.lastUser(1); last >= 0 && last < n {
		// The last words come to stand before the tail: no user may follow.
		for n > last+1 && n < len(w.entries) && w.entries[n].m.Role != hermes.RoleAssistant {
			n--
		}
	}
	for n > 0 && n < len(w.entries) && w.entries[n].m.Role == hermes.RoleTool {
		n--
	}
	return n
}

// tailBySize is where the tail begins for its size alone.
func (w *work) tailBySize(b budget, cfg Config) int {
	n, sum := len(w.entries), 0
	for n > 0 {
		cost := sizeOf(&w.entries[n-1].m)
		count := len(w.entries) - n
		over := sum+cost > b.tail && count >= cfg.ProtectLast || float64(sum+cost) > softCeiling*float64(b.tail) && count >= min(minTail, cfg.ProtectLast)
		if over {
			break
		}
		sum += cost
		n--
	}
	return n
}

// size is what the entries from one to another cost.
func (w *work) size(from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		n += sizeOf(&w.entries[i].m)
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
	for i := c.head; i < c.tail; i++ {
		if i != c.last {
			out = append(out, w.entries[i].m)
		}
	}
	return out
}
