package session

import (
	"context"
	"slices"
	"sync"

	"hermes"
)

// taint is what text from outside has been seen. It may be used concurrently.
type taint struct {
	mu   sync.Mutex
	from string
}

func (m *taint) add(from string) {
	if from == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = hermes.AddProvenance(m.from, from)
}

func (m *taint) text() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.from
}

// provenance is what text from outside the session has in its context: what it
// began with, and what its messages carry.
func (s *Session) provenance() string {
	return hermes.AddProvenance(s.row.Provenance, hermes.TranscriptProvenance(s.transcript))
}

// lift takes the sources off the parts of a message that is said. A picture may
// show anybody's text.
func lift(parts []hermes.Part) (plain []hermes.Part, provenance string) {
	plain = slices.Clone(parts)
	for i := range plain {
		provenance = hermes.AddProvenance(provenance, plain[i].Provenance)
		if plain[i].Image != nil {
			provenance = hermes.AddProvenance(provenance, "a picture")
		}
		plain[i].Provenance = ""
	}
	return plain, provenance
}

// run takes a call through the tool chain and notes what it brought.
func (t *tools) run(ctx context.Context, c *hermes.Call, h *host) hermes.Result {
	r := t.toolbox.Run(ctx, c)
	r.Provenance = hermes.AddProvenance(h.callTaint.text(), r.Provenance)
	t.taint.add(r.Provenance)
	return r
}

// taintedBy notes what came from outside while a call ran, for the call's own
// result and for all calls from now on.
func (h *host) taintedBy(from string) {
	h.callTaint.add(from)
	h.taint.add(from)
}

// inherit gives what a context engine made the mark of what it was made from,
// whatever the engine does.
func inherit(put []hermes.Insertion, hidden []hermes.Message) {
	from := hermes.TranscriptProvenance(hidden)
	for i := range put {
		put[i].Message.Provenance = hermes.AddProvenance(put[i].Message.Provenance, from)
	}
}
