package session

import "sync"

// note is the text that waits for the model. The loop takes it from its own
// goroutine.
type note struct {
	mu   sync.Mutex
	text string
}

func (n *note) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.text != "" {
		n.text += "\n"
	}
	n.text += text
}

func (n *note) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	text := n.text
	n.text = ""
	return text
}
