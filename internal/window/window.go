// Package window bounds the output of programs, of which the beginning and the end say most.
// It knows neither who writes nor who reads it. Start at Window.
package window

import (
	"sync"
	"unicode/utf8"

	"hermes/internal/ansi"
)

// headShare is the part of the limit for the beginning of an output. The end,
// which has results and errors, gets the rest.
const headShare = 0.4

// Window keeps the beginning and the end of an output, without terminal sequences. It never
// holds more than twice its limit, however much is written. Its methods may be called
// concurrently.
type Window struct {
	mu    sync.Mutex
	strip ansi.Stripper
	most  int
	head  []byte
	tail  []byte
	seen  int64 // bytes of text, whether kept or not
	last  int   // limit of the end
}

// New returns an empty window that keeps at most so many bytes.
func New(most int) *Window {
	head := int(float64(most) * headShare)
	return &Window{most: most, head: make([]byte, 0, min(head, 4<<10)), last: most - head}
}

// Write adds a piece of output. It never fails.
func (w *Window) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for rest := p; len(rest) > 0; {
		piece := rest[:min(len(rest), 16<<10)]
		rest = rest[len(piece):]
		w.add(w.strip.Text(piece))
	}
	return len(p), nil
}

func (w *Window) add(text []byte) {
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

// Text returns all of the output, or both ends with what cut says between them.
func (w *Window) Text(cut func(missing, whole int64) string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen <= int64(w.most) {
		return ansi.Readable(string(w.head) + string(w.tail))
	}
	head := cutEnd(string(w.head))
	tail := CutBegin(string(w.tail[max(0, len(w.tail)-w.last):]))
	missing := w.seen - int64(len(head)) - int64(len(tail))
	return ansi.Readable(head) + "\n\n" + cut(missing, w.seen) + "\n\n" + ansi.Readable(tail)
}

// Cut reports whether the output is longer than what is kept.
func (w *Window) Cut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen > int64(w.most)
}

// cutEnd drops an incomplete character at the end.
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

// CutBegin drops an incomplete character at the beginning.
func CutBegin(s string) string {
	for i := 0; i < min(utf8.UTFMax, len(s)); i++ {
		if utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}
