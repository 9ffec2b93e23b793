package session

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// mark is what text from outside has been seen. It may be used concurrently.
type mark struct {
	mu   sync.Mutex
	from string
}

func (m *mark) add(from string) {
	if from == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = hermes.AddOutside(m.from, from)
}

func (m *mark) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.from
}

// outside is what text from outside the session has in its context: what it
// began with, and what its messages carry.
func (s *Session) outside() string {
	return hermes.AddOutside(s.row.Outside, hermes.OutsideOf(s.transcript))
}

// lift takes the sources off the parts of a message that is said. A picture may
// show anybody's text.
func lift(parts []hermes.Part) (plain []hermes.Part, outside string) {
	plain = slices.Clone(parts)
	for i := range plain {
		outside = hermes.AddOutside(outside, plain[i].Outside)
		if plain[i].Image != nil {
			outside = hermes.AddOutside(outside, "a picture")
		}
		plain[i].Outside = ""
	}
	return plain, outside
}

// run takes a call through the tool onion and notes what it brought.
func (t *tools) run(ctx context.Context, c *hermes.Call, h *host) hermes.Result {
	r := t.box.Run(ctx, c)
	r.Outside = hermes.AddOutside(h.brought.text(), r.Outside)
	t.mark.add(r.Outside)
	return r
}

// brings notes what came from outside while a call ran, for the call's own
// result and for all calls from now on.
func (h *host) brings(from string) {
	h.brought.add(from)
	h.mark.add(from)
}

// inherit gives what a context engine made the mark of what it was made from,
// whatever the engine does.
func inherit(put []hermes.Placed, hidden []hermes.Message) {
	from := hermes.OutsideOf(hidden)
	for i := range put {
		put[i].Message.Outside = hermes.AddOutside(put[i].Message.Outside, from)
	}
}
