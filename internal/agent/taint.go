package agent

import (
	"sync"

	"hermes"
)

// Taint collects the sources of untrusted text that the calls of a turn read. It may be used
// concurrently.
type Taint struct {
	mu   sync.Mutex
	from string
}

// NewTaint returns a Taint that begins with the sources in a provenance.
func NewTaint(from string) *Taint { return &Taint{from: from} }

// Add adds the sources in a provenance.
func (t *Taint) Add(from string) {
	if from == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.from = hermes.AddProvenance(t.from, from)
}

// String returns the sources so far, as in [hermes.Message].
func (t *Taint) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.from
}
