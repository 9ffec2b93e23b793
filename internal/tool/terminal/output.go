package terminal

import (
	"fmt"
	"strings"
	"sync"

	"hermes/internal/ansi"
	"hermes/internal/window"
)

// leftOut says what is missing in the middle of a long output.
func leftOut(missing, whole int64) string {
	return fmt.Sprintf("[… %d of %d bytes left out here; to see more, narrow the command, or write its output to a file and read that …]", missing, whole)
}

// buffer keeps the end of a background process's output, in order of writing,
// and shows its lines to a watcher.
type buffer struct {
	watch *watcher // nil: none; set before the first write

	mu    sync.Mutex
	strip ansi.Stripper
	most  int
	text  []byte
	seen  int64 // bytes of text written so far
}

func newBuffer(most int) *buffer { return &buffer{most: most} }

// Write adds a piece of output. It never fails.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	text := b.strip.Text(p)
	b.seen += int64(len(text))
	b.text = append(b.text, text...)
	if over := len(b.text) - b.most; over > b.most {
		b.text = b.text[:copy(b.text, b.text[over:])]
	}
	var lines []byte
	if b.watch != nil {
		lines = append(lines, text...)
	}
	b.mu.Unlock()
	if b.watch != nil {
		b.watch.see(lines)
	}
	return len(p), nil
}

// finish shows the watcher a last line that has no line end.
func (b *buffer) finish() {
	if b.watch != nil {
		b.watch.see([]byte("\n"))
	}
}

// kept returns the text within the limit. Call it with the lock held.
func (b *buffer) kept() []byte { return b.text[max(0, len(b.text)-b.most):] }

// end returns at most so many of the last bytes.
func (b *buffer) end(most int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.kept()
	return ansi.Readable(window.CutBegin(string(kept[max(0, len(kept)-most):])))
}

// since returns what was written after a position, at most its last bytes, and
// the new position. lost is the number of bytes missing before the text.
func (b *buffer) since(at int64, most int) (text string, now, lost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.kept()
	size := min(b.seen-at, int64(len(kept)), int64(most))
	return ansi.Readable(window.CutBegin(string(kept[int64(len(kept))-size:]))), b.seen, b.seen - at - size
}

// lines returns the stored lines, and whether earlier ones were dropped.
func (b *buffer) lines() (lines []string, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSuffix(ansi.Readable(window.CutBegin(string(b.kept()))), "\n")
	if text == "" {
		return nil, false
	}
	return strings.Split(text, "\n"), b.seen > int64(b.most)
}
