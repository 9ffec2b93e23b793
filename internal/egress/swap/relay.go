package swap

import (
	"io"
	"sync"
	"time"
)

// patience is how long bytes that may be the beginning of a value wait for what follows.
const patience = 20 * time.Millisecond

// relay copies a stream to a child and replaces values in it. It passes on what it reads at
// once, except what may be the beginning of a value.
type relay struct {
	to    io.Writer
	flush func() error

	mu    sync.Mutex
	scan  scanner
	ended bool
	err   error // of a write
}

func newRelay(p *patterns, to io.Writer, flush func() error) *relay {
	return &relay{to: to, flush: flush, scan: scanner{patterns: p}}
}

// copy ends with from, or when the child is gone. After it nothing is written to the child.
func (r *relay) copy(from io.Reader) error {
	late := time.AfterFunc(time.Hour, r.late)
	defer late.Stop()
	late.Stop()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if failed := r.pass(buffer[:n], late); failed != nil {
			return failed
		}
		if err == io.EOF {
			return r.end(true)
		}
		if err != nil {
			r.end(false)
			return err
		}
	}
}

func (r *relay) pass(piece []byte, late *time.Timer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(r.scan.feed(piece))
	if r.scan.waits() {
		late.Reset(patience)
	}
	return r.err
}

// late runs when nothing followed.
func (r *relay) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.write(r.scan.release())
	}
}

func (r *relay) end(whole bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if whole {
		r.write(r.scan.rest())
	}
	r.ended = true
	return r.err
}

func (r *relay) write(piece []byte) {
	if len(piece) == 0 || r.err != nil {
		return
	}
	if _, r.err = r.to.Write(piece); r.err == nil {
		r.err = r.flush()
	}
}
