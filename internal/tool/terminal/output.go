package terminal

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"hermes/internal/ansi"
)

// headShare is the part of the limit for the beginning of an output. The end,
// which has results and errors, gets the rest.
const headShare = 0.4

// window keeps the beginning and the end of an output. It never holds more than
// twice its limit, however much is written.
type window struct {
	mu    sync.Mutex
	strip ansi.Stripper
	most  int
	head  []byte
	tail  []byte
	seen  int64 // bytes of text, whether kept or not
	last  int   // limit of the end
}

func newWindow(most int) *window {
	head := int(float64(most) * headShare)
	return &window{most: most, head: make([]byte, 0, min(head, 4<<10)), last: most - head}
}

// Write adds a piece of output. It never fails.
func (w *window) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		piece := rest[:min(len(rest), 16<<10)]
		rest = rest[len(piece):]
		w.add(w.strip.Text(piece))
	}
	return len(p), nil
}

func (w *window) add(text []byte) {
	w.seen += int64(len(text))
	if free := w.most - w.last - len(w.head); free > 0 {
		n := min(free, len(text))
		w.head = append(w.head, text[:n]...)
		text = text[n:]
	}
	w.tail = append(w.tail, text...)
	if over := len(w.tail) - w.last; over > w.last {
		w.tail = w.tail[:copy(w.tail, w.tail[over:])]
	}
}

// Text returns the output for the model: all of it, or both ends and how much
// is missing between them.
func (w *window) Text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen <= int64(w.most) {
		return ansi.Readable(string(w.head) + string(w.tail))
	}
	head := cutEnd(string(w.head))
	tail := cutBegin(string(w.tail[max(0, len(w.tail)-w.last):]))
	missing := w.seen - int64(len(head)) - int64(len(tail))
	return ansi.Readable(head) + fmt.Sprintf("\n\n[… %d of %d bytes left out here; to see more, narrow the command, or write its output to a file and read that …]\n\n",
		missing, w.seen) + ansi.Readable(tail)
}

// cutEnd and cutBegin drop an incomplete character at the end or beginning.
func cutEnd(s string) string {
	for i := 1; i <= min(utf8.UTFMax, len(s)); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

func cutBegin(s string) string {
	for i := 0; i < min(utf8.UTFMax, len(s)); i++ {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
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
	return ansi.Readable(cutBegin(string(kept[max(0, len(kept)-most):])))
}

// since returns what was written after a position, at most its last bytes, and
// the new position. lost is the number of bytes missing before the text.
func (b *buffer) since(at int64, most int) (text string, now, lost int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept := b.kept()
	size := min(b.seen-at, int64(len(kept)), int64(most))
	return ansi.Readable(cutBegin(string(kept[int64(len(kept))-size:]))), b.seen, b.seen - at - size
}

// lines returns the stored lines, and whether earlier ones were dropped.
func (b *buffer) lines() (lines []string, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSuffix(ansi.Readable(cutBegin(string(b.kept()))), "\n")
	if text == "" {
		return nil, false
	}
	return strings.Split(text, "\n"), b.seen > int64(b.most)
}
