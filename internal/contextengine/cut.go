package contextengine

import "hermes"

// cut says which entries are summarized: those from head to tail, except the
// one at last. That is the user's last message if its turn is too long to keep
// whole, else -1.
type cut struct{ head, tail, last int }

// keep is how many exchanges stay unchanged. If firm is set, they stay whatever
// their size.
type keep struct {
	exchanges int
	firm      bool
}

// cut finds the boundaries. It returns false if there is too little between
// them to summarize.
func (w *work) cut(b budget, cfg Config, k keep) (cut, bool) {
	c := cut{tail: w.tailFrom(b, cfg, k), last: -1}
	c.head = min(w.headTo(cfg.ProtectFirst, b.head), c.tail)
	if u := w.lastUser(1); u >= c.head && u < c.tail {
		c.last = u
	}
	if c.last == c.head { // there is nothing between the two
		c.head, c.last = c.head+1, -1
	}
	return c, c.count() >= 2
}

// cutHard finds boundaries that keep as little as possible: a short head, and
// the newest message with what belongs to it. It is for a refused request that
// cannot be shortened in another way.
func (w *work) cutHard(b budget) (cut, bool) {
	b.tail, b.reach = 0, b.head
	c, _ := w.cut(b, Config{ProtectFirst: 1, ProtectLast: 1}, keep{})
	return c, size(w.between(c)) > b.summary
}

// count returns how many messages are summarized.
func (c cut) count() int {
	if c.last >= 0 {
		return c.tail - c.head - 1
	}
	return c.tail - c.head
}

// headTo returns where the head ends: after the first messages, if they are
// within the limit, without separating a call from its result. An earlier
// summary is never part of the head, because the new one replaces it.
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

// tailFrom returns where the tail begins. The tail has as many messages as fit
// its budget, at least the configured number, and never a result without its
// call. It includes the exchanges to keep, or at least the user's last message,
// unless that turn itself is too long: then the cut is within the turn.
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
		// The user's last message comes before the tail, so no user message may follow.
		for n > last+1 && n < len(w.entries) && w.entries[n].m.Role != hermes.RoleAssistant {
			n--
		}
	}
	for n > 0 && n < len(w.entries) && w.entries[n].m.Role == hermes.RoleTool {
		n--
	}
	return n
}

// byBudget is the configuration for pruning: the results of messages that stay
// only because they are among the last are shortened.
func (c Config) byBudget() Config {
	c.ProtectLast = minTail
	return c
}

// tailBySize returns where the tail begins by its size only.
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

// size estimates the tokens of the entries from one index to another.
func (w *work) size(from, to int) int {
	n := 0
	for i := from; i < to; i++ {
		n += sizeOf(&w.entries[i].m)
	}
	return n
}

// lastUser returns the index of the user's n-th last message, -1 if there is
// none.
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

// between returns the messages to summarize.
func (w *work) between(c cut) []hermes.Message {
	out := make([]hermes.Message, 0, c.tail-c.head)
	for i := c.head; i < c.tail; i++ {
		if i != c.last {
			out = append(out, w.entries[i].m)
		}
	}
	return out
}
