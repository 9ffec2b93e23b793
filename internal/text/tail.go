package text

import (
	"strings"
	"sync"
)

// maxTail is how much a [Tail] keeps, in bytes.
const maxTail = 4 << 10

// Tail keeps the last 4 KiB of what is written to it, such as what a program said before it ended. The
// zero value is empty. It may be used concurrently.
type Tail struct {
	mu   sync.Mutex
	kept []byte
}

// Write keeps the end. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-maxTail):]...)
	t.kept = t.kept[max(0, len(t.kept)-maxTail):]
	return len(p), nil
}

// Last returns the last line that is not empty, for people: plain, and 300 characters at most.
func (t *Tail) Last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	return OneLine(Plain(lines[len(lines)-1]), 300)
}
