package docker

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// The marks of run.sh: an odd byte, the nonce, and what follows.
const (
	markByte  = '\036'
	markBegin = '<'
	markEnd   = '>'
)

// saidBytes is how much is kept of what the client says.
const saidBytes = 16 << 10

// stream is one output of the client. What is before the first mark is of the client, what
// is behind the last mark of processes that outlive their script; only the rest is passed
// on.
type stream struct {
	to           io.Writer // nil discards
	nonce        string
	began, ended chan struct{} // closed at the marks

	mu       sync.Mutex
	started  bool
	done     bool
	exit     int
	held     []byte // may be the beginning of a mark
	client   []byte
	writeErr error
}

// Write takes output of the client. It fails when the writer behind it does.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(b)
	if len(s.held) > 0 {
		b = append(s.held, b...)
		s.held = nil
	}
	if !s.started {
		b = s.begin(b)
	}
	if s.started && !s.done {
		s.script(b)
	}
	return n, nil
}

// begin looks for the first mark and returns what is behind it.
func (s *stream) begin(b []byte) []byte {
	before, after, found := bytes.Cut(b, s.mark(markBegin))
	if !found {
		before = b[:len(b)-s.maybe(b, markBegin)]
		s.held = bytes.Clone(b[len(before):])
	}
	s.client = append(s.client, before[:min(len(before), saidBytes-len(s.client))]...)
	if found {
		s.started = true
		close(s.began)
	}
	return after
}

// script passes on what the script wrote, up to the last mark.
func (s *stream) script(b []byte) {
	before, after, found := bytes.Cut(b, s.mark(markEnd))
	if !found {
		before = b[:len(b)-s.maybe(b, markEnd)]
		s.held = bytes.Clone(b[len(before):])
	}
	if found {
		number, _, whole := bytes.Cut(after, []byte{';'})
		if !whole { // the number is still to come
			s.held = bytes.Clone(b[len(before):])
		} else if code, err := strconv.Atoi(string(number)); err == nil {
			s.exit, s.done = code, true
		}
	}
	s.pass(before)
	if s.done {
		close(s.ended)
	}
}

func (s *stream) pass(b []byte) {
	if s.to == nil || len(b) == 0 || s.writeErr != nil {
		return
	}
	_, s.writeErr = s.to.Write(b)
}

func (s *stream) mark(kind byte) []byte {
	return append(append([]byte{markByte}, s.nonce...), kind)
}

// maybe returns how many bytes at the end may be the beginning of a mark.
func (s *stream) maybe(b []byte, kind byte) int {
	i := bytes.LastIndexByte(b, markByte)
	if i < 0 || !bytes.HasPrefix(s.mark(kind), b[i:]) {
		return 0
	}
	return len(b) - i
}

// code returns the exit code of the script, if its end was seen.
func (s *stream) code() (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit, s.done
}

// said returns what the client says.
func (s *stream) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.client)
}

// gated holds the input back until the script has begun, so that nothing of it is lost with
// a script that does not run.
type gated struct {
	from       io.Reader
	open, shut <-chan struct{}
}

func (g gated) Read(p []byte) (int, error) {
	select {
	case <-g.open:
		return g.from.Read(p)
	case <-g.shut:
		return 0, io.EOF
	}
}
