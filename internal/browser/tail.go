package browser

import (
	"bytes"
	"strings"
	"sync"
)

// maxSaid bounds what is kept of the standard error of a browser.
const maxSaid = 4 << 10

// tail keeps the end of what a browser writes.
type tail struct {
	watch chan string // gets the address that it listens on; nil: not wanted

	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if t.watch != nil {
		if _, after, ok := bytes.Cut(t.kept, []byte("DevTools listening on ")); ok {
			if url, _, whole := bytes.Cut(after, []byte("\n")); whole {
				t.watch <- strings.TrimSpace(string(url))
				t.watch = nil
			}
		}
	}
	if n := len(t.kept); n > maxSaid {
		t.kept = append([]byte(nil), t.kept[n-maxSaid:]...)
	}
	return len(p), nil
}

// last returns the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.kept)), "\n")
	return clean(lines[len(lines)-1], 300)
}
