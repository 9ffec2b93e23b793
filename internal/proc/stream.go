package proc

import (
	"io"
	"os"
	"sync"
	"time"
)

// pumpBytes is the buffer of one output stream.
const pumpBytes = 32 << 10

// pump copies one output stream of a child to its writer. After detach it keeps
// reading and discards the data, so that a grandchild that still writes does not
// get a broken pipe.
type pump struct {
	from io.ReadCloser
	done chan struct{}

	mu   sync.Mutex
	to   io.Writer // nil: discard
	seen int64     // bytes delivered
}

func newPump(from io.ReadCloser, to io.Writer) *pump {
	return &pump{from: from, to: to, done: make(chan struct{})}
}

// run reads until the stream ends. A terminal whose other side is closed ends with
// an error, which means the same.
func (p *pump) run() {
	defer close(p.done)
	defer p.from.Close()
	buf := make([]byte, pumpBytes)
	for {
		n, err := p.from.Read(buf)
		if n > 0 {
			p.deliver(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

func (p *pump) deliver(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.to == nil {
		return
	}
	p.seen += int64(len(b))
	if _, err := p.to.Write(b); err != nil {
		p.to = nil
	}
}

// finish waits until the stream ends or was quiet for a time, and then detaches
// the writer. A stream without writers is always read until it ends, however
// slow this machine is; the time applies only while a grandchild holds the stream
// open.
func (p *pump) finish(quiet time.Duration) {
	before := p.delivered()
	for rounds := 0; rounds < 10; {
		select {
		case <-p.done:
			return
		case <-time.After(quiet):
		}
		waiting, ended := pending(p.from)
		if ended {
			<-p.done
			return
		}
		now := p.delivered()
		if now != before {
			rounds++
		} else if !waiting {
			break
		}
		before = now
	}
	p.detach()
}

func (p *pump) delivered() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

func (p *pump) detach() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = nil
}

func (p *pump) finished() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wiring collects both ends of a child's pipes until the child has its ends.
type wiring struct {
	started bool
	pumps   []*pump
	theirs  []io.Closer // the child's ends: closed here once it has them
	ours    []io.Closer // our ends: closed here if it never started
}

func (w *wiring) release() {
	for _, c := range w.theirs {
		c.Close()
	}
	if w.started {
		return
	}
	for _, c := range w.ours {
		c.Close()
	}
}

// output returns the child's end of a stream whose data goes to to, or nil if to is
// nil.
func (w *wiring) output(to io.Writer) (*os.File, error) {
	if to == nil {
		return nil, nil
	}
	if f, ok := to.(*os.File); ok {
		return f, nil
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w.theirs = append(w.theirs, wr)
	w.ours = append(w.ours, r)
	w.pumps = append(w.pumps, newPump(r, to))
	return wr, nil
}

// wireInput sets up the child's standard input and returns its end. The returned
// function, if any, copies the reader and must run in a goroutine.
func (p *Process) wireInput(w *wiring, c Command) (in *os.File, feed func(), err error) {
	if f, ok := c.Stdin.(*os.File); ok {
		return f, nil, nil
	}
	if c.Stdin == nil && !c.OpenInput {
		return nil, nil, nil
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	w.theirs = append(w.theirs, r)
	w.ours = append(w.ours, wr)
	p.input = wr
	if c.OpenInput {
		return r, nil, nil
	}
	return r, func() {
		_, _ = io.Copy(wr, c.Stdin) // a child may stop reading
		_ = p.CloseInput()
	}, nil
}
