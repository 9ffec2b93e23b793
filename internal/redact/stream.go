package redact

import (
	"io"
	"strings"
)

const (
	// streamHold bounds what a stream holds back, in bytes. It is more than any
	// single rule reads.
	streamHold = 48 << 10
	// streamContext is how much of the text passed on is remembered, so that the
	// name before a value is known when the value comes. It is more than any rule
	// reads back.
	streamContext = 4 << 10
)

// Stream masks secrets in text that arrives in pieces, wherever it is cut. It
// holds back the shortest tail that may still become a secret: usually a word, at
// most the longest value that a rule reads.
// A Stream belongs to one goroutine.
type Stream struct {
	r     *Redactor
	text  string // context that was passed on, then the part held back
	begun int    // where the part held back begins
	read  int    // where to read on, at most begun
	seen  int    // how much of text was read the last time
	steps int    // bytes that were read, for tests
}

// Stream returns a new stream that masks as r does.
func (r *Redactor) Stream() *Stream { return &Stream{r: r} }

// Write takes the next piece and returns the text that is safe to show now,
// which may be empty.
func (s *Stream) Write(piece string) string {
	s.text += piece
	if s.waits() {
		return ""
	}
	out := s.take(false)
	if held := len(s.text) - s.begun; held > streamHold { // longer than any secret
		out += s.take(true)
	}
	return out
}

// waits reports whether too little has come since the last reading. A long part
// that is held back is read again only when it has grown by an eighth, so that the
// work stays in proportion to the text.
func (s *Stream) waits() bool {
	const small = 256
	again := s.seen - s.read
	return again > small && len(s.text)-s.seen < again/8
}

// Flush returns what was held back, masked, and starts again.
func (s *Stream) Flush() string {
	out := s.take(true)
	*s = Stream{r: s.r}
	return out
}

func (s *Stream) take(final bool) string {
	f := s.r.find(s.text, s.read, final)
	s.steps += f.steps
	if final {
		f.settled, f.resume = len(s.text), len(s.text)
	}
	settled := max(f.settled, s.begun)
	var b strings.Builder
	at := s.begun
	for _, sp := range f.spans {
		if sp.to > settled {
			break
		}
		if sp.to <= at {
			continue
		}
		b.WriteString(s.text[at:max(at, sp.from)]) // the first letters of a spaced value may be out
		b.WriteString(sp.mask)
		at = sp.to
	}
	b.WriteString(s.text[at:settled])
	s.begun, s.read, s.seen = settled, f.resume, len(s.text)
	if drop := s.read - streamContext; drop > 0 {
		s.text = strings.Clone(s.text[drop:])
		s.begun -= drop
		s.read -= drop
		s.seen -= drop
	}
	return b.String()
}

// Writer masks what is written through it. Close passes on what was held back;
// it does not close the writer below. A Writer belongs to one goroutine.
type Writer struct {
	to io.Writer
	s  *Stream
}

// NewWriter returns a Writer to w that masks as r does.
func NewWriter(w io.Writer, r *Redactor) *Writer { return &Writer{to: w, s: r.Stream()} }

// Write masks p and passes on what is safe. It reports all of p as written
// unless the writer below fails.
func (w *Writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.s.Write(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on the rest.
func (w *Writer) Close() error {
	_, err := io.WriteString(w.to, w.s.Flush())
	return err
}
