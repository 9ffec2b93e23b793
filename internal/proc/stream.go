package proc

import (
	"io"
	"os"
	"sync"
	"time"
)

// pumpBytes is the buffer of one output stream.
const pumpBytes = 32 << 10

// pump carries one output stream of a child to its writer. Detached, it goes
// on reading and throws away, so that a grandchild which still writes is not
// stopped by a broken pipe.
type pump struct {
	from io.ReadCloser
	done chan struct{}

	mu   sync.Mutex
	to   io.Writer // nil: throw away
	seen int64     // bytes delivered
}

func newPump(from io.ReadCloser, to io.Writer) *pump {
	return &pump{from: from, to: to, done: make(chan struct{})}
}

// run reads to the end of the stream. A terminal whose other side is gone
// ends with an error, which means the same.
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

// finish waits for the end of the stream, or until it was quiet for a time,
// and then lets no more be written. A stream that nobody can write to any more
// is always read to its end, however slow this machine is; time counts only
// where a grandchild holds the stream open.
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

// wiring collects the two ends of a child's pipes until the child has its own.
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

// output returns what the child shall write to so that it reaches to. The
// result is an untyped nil for nothing.
func (w *wiring) output(to io.Writer) (io.Writer, error) {
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

// wireInput gives the child its standard input. The function it returns, if
// any, copies the reader and must run in a goroutine.
func (p *Process) wireInput(w *wiring, c Command) (feed func(), err error) {
	if f, ok := c.Stdin.(*os.File); ok {
		p.cmd.Stdin = f
		return nil, nil
	}
	if c.Stdin == nil && !c.OpenInput {
		return nil, nil
	}
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w.theirs = append(w.theirs, r)
	w.ours = append(w.ours, wr)
	p.cmd.Stdin = r
	p.input = wr
	if c.OpenInput {
		return nil, nil
	}
	return func() {
		_, _ = io.Copy(wr, c.Stdin) // a child that stops reading is its own affair
		_ = p.CloseInput()
	}, nil
}
