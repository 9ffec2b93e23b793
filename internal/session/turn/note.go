package turn

import (
	"strings"
	"sync"

	"hermes"
)

// Queued is a message that waits for a turn, with the ids of the stored
// messages that it is made of.
type Queued struct {
	IDs     []int64
	Message hermes.Message
	From    hermes.From // the zero value if an earlier process took it
	Held    bool        // it waits until a turn is asked for
}

// Note is the text that waits for the next result of the running turn. The
// loop takes it from its own goroutine; the rest is the session's.
type Note struct {
	mu      sync.Mutex
	waiting []Queued
	given   []Queued // taken by the loop, and not yet stored below a result
}

// Add adds a text.
func (n *Note) Add(q Queued) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, q)
}

// take returns the text for the loop.
func (n *Note) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := joinNotes(n.waiting).Message.Text()
	n.given, n.waiting = append(n.given, n.waiting...), nil
	return text
}

// ids returns the ids of the notes that the loop took.
func (n *Note) ids() []int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return joinNotes(n.given).IDs
}

// stored forgets the notes that the loop took.
func (n *Note) stored() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.given = nil
}

// Rest returns the notes that no result has, as one message. It has no ids if
// there are none.
func (n *Note) Rest() Queued {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := append(n.given, n.waiting...)
	n.given, n.waiting = nil, nil
	return joinNotes(all)
}

func joinNotes(list []Queued) Queued {
	var ids []int64
	var texts []string
	for _, q := range list {
		ids, texts = append(ids, q.IDs...), append(texts, q.Message.Text())
	}
	return Queued{IDs: ids, Message: hermes.UserText(strings.Join(texts, "\n"))}
}
