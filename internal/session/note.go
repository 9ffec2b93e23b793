package session

import (
	"strings"
	"sync"

	"hermes"
)

// note is the text that waits for the next result of the running turn. The
// loop takes it from its own goroutine; the rest is the actor's.
type note struct {
	mu      sync.Mutex
	waiting []queued
	given   []queued // taken by the loop, and not yet stored below a result
}

func (n *note) add(q queued) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = append(n.waiting, q)
}

// take returns the text for the loop.
func (n *note) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := joinNotes(n.waiting).message.Text()
	n.given, n.waiting = append(n.given, n.waiting...), nil
	return text
}

// ids returns the ids of the notes that the loop took.
func (n *note) ids() []int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return joinNotes(n.given).ids
}

// stored forgets the notes that the loop took.
func (n *note) stored() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.given = nil
}

// rest returns the notes that no result has, as one message. It has no ids if
// there are none.
func (n *note) rest() queued {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := append(n.given, n.waiting...)
	n.given, n.waiting = nil, nil
	return joinNotes(all)
}

func joinNotes(list []queued) queued {
	var ids []int64
	var texts []string
	for _, q := range list {
		ids, texts = append(ids, q.ids...), append(texts, q.message.Text())
	}
	return queued{ids, hermes.UserText(strings.Join(texts, "\n"))}
}
