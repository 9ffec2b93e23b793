package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes/internal/environment/remote"
)

// leftWait is how long an ended script's session may take to end. It does not end while a
// process that the script left running has its output open.
const leftWait = 40 * time.Millisecond

// Exec runs a script; see [remote.Runner]. What the script leaves running goes on; its output
// is read and discarded.
func (r *Runner) Exec(ctx context.Context, s remote.Script) (int, error) {
	mark := newMark()
	before, read := "", readExactly
	if s.Stdin == nil {
		read = readAll
	}
	merged := s.Stdout != nil && s.Stdout == s.Stderr
	if merged { // one stream there keeps the order
		before = "exec 2>&1\n"
	}
	out, errs := newTail(mark, s.Stdout), newTail(mark, s.Stderr)
	if merged {
		errs.to = nil
	}
	head := marked(mark, before, s.Text)
	c := call{line: scriptLine(read, len(head), mark), in: newFeed(head, s.Stdin), out: out, errs: errs}
	return r.run(ctx, c, out, errs)
}

// Terminal runs a script on a terminal of the machine; see [remote.Terminals].
func (r *Runner) Terminal(ctx context.Context, s remote.Script, columns, rows int) (int, error) {
	mark := newMark()
	size := "stty cols " + strconv.Itoa(columns) + " rows " + strconv.Itoa(rows)
	// Input that comes before the terminal has its usual mode is not read as typed.
	head := marked(mark, "stty \"$o\"; "+size+"; echo \"$2-usual 0\"\n", s.Text)
	ready, usual, out := newTail(mark+"-ready", nil), newTail(mark+"-usual", nil), newTail(mark, s.Stdout)
	ready.next, usual.next = usual, out
	in := newFeed(head, s.Stdin)
	in.ready, in.usual, in.last = ready.seen, usual.seen, []byte{4} // Ctrl+D ends the input of a terminal
	c := call{line: scriptLine(onTerminal+readExactly, len(head), mark), in: in, out: ready, terminal: true, columns: columns, rows: rows}
	return r.run(ctx, c, out)
}

// run runs a call until all its tails have ended.
func (r *Runner) run(ctx context.Context, c call, tails ...*tail) (int, error) {
	if strings.Contains(c.in.head, "\x00") {
		return 0, fmt.Errorf("%w: its text has a zero byte", remote.ErrNotRun)
	}
	defer func() {
		for _, t := range tails {
			t.finish()
		}
	}()
	p, err := r.way.start(ctx, c)
	if err != nil {
		return 0, err
	}
	defer c.in.stop()
	for _, t := range tails {
		select {
		case <-t.seen:
			continue
		case <-p.done():
			defer p.close()
			return r.ended(p, c, tails)
		case <-ctx.Done():
			p.close()
			return 0, context.Cause(ctx)
		case <-r.life.Done():
			p.close()
			return 0, errClosed
		}
	}
	select {
	case <-p.done():
		p.close()
	case <-time.After(leftWait):
		r.keep(p)
	}
	return tails[0].code, nil
}

// ended is the result of a session that has ended, perhaps before its script.
func (r *Runner) ended(p session, c call, tails []*tail) (int, error) {
	for _, t := range tails {
		select {
		case <-t.seen:
			return t.code, nil
		default:
		}
	}
	host, why := r.config.Host, p.problem()
	if c.in.unread() {
		return 0, fmt.Errorf("%w: no connection to %s: %s", remote.ErrNotRun, host, why)
	}
	return 0, lost(host, why)
}

func lost(host, why string) error {
	return fmt.Errorf("the connection to %s was lost while the command ran, and its outcome is unknown: %s; check what it has done before running it again", host, why)
}

// keep keeps the session of an ended script open for the processes that have its output.
func (r *Runner) keep(p session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var open []session
	for _, s := range append(r.left, p) {
		select {
		case <-s.done():
			s.close()
		default:
			open = append(open, s)
		}
	}
	for len(open) > maxLeft {
		open[0].close()
		open = open[1:]
	}
	r.left = open
	if r.life.Err() != nil {
		p.close()
	}
}

// feed is the standard input of a script: first the script itself, the head.
type feed struct {
	head  string
	stdin io.Reader
	ready <-chan struct{} // the head waits for it, if set
	usual <-chan struct{} // so does stdin
	last  []byte          // sent at the end of stdin, instead of closing

	to   io.WriteCloser // set by the way before run
	back io.ReadCloser  // the other end of to, if it is a pipe of this process

	stopping sync.Once
	stopped  chan struct{}
	mu       sync.Mutex // held during a write
	written  int
}

func newFeed(head string, stdin io.Reader) *feed {
	return &feed{head: head, stdin: stdin, stopped: make(chan struct{})}
}

// prefill is what a pipe takes without a reader.
const prefill = 4 << 10

// begin sends the first bytes of the head before there is a reader, so that it need not wait.
// to is a pipe.
func (f *feed) begin() {
	if f.ready == nil {
		_, _ = f.write([]byte(f.head[:min(len(f.head), prefill)]))
	}
}

// run sends everything. It ends with the input or after stop, then at the latest when Read of
// stdin returns.
func (f *feed) run() {
	if !f.wait(f.ready) {
		return
	}
	if _, err := io.Copy(writerFunc(f.write), strings.NewReader(f.head[f.written:])); err != nil {
		return
	}
	if !f.wait(f.usual) {
		return
	}
	if f.stdin != nil {
		if _, err := io.Copy(writerFunc(f.write), f.stdin); err != nil && errors.Is(err, errStopped) {
			return
		}
	}
	if f.last != nil {
		_, _ = f.write(f.last)
		return
	}
	f.to.Close()
}

// wait waits for a moment, and reports false if the input ends first.
func (f *feed) wait(moment <-chan struct{}) bool {
	if moment == nil {
		return true
	}
	select {
	case <-moment:
		return true
	case <-f.stopped:
		return false
	}
}

var errStopped = errors.New("the input is not read any more")

func (f *feed) write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.stopped:
		return 0, errStopped
	default:
	}
	n, err := f.to.Write(p)
	f.written += n
	if err != nil {
		return n, errStopped
	}
	return n, nil
}

// stop ends the input.
func (f *feed) stop() {
	f.stopping.Do(func() {
		close(f.stopped)
		f.to.Close() // also while a write waits
		if f.back != nil {
			f.back.Close()
		}
	})
}

// unread reports that a part of the script was certainly not sent, so that it cannot have
// run. It is asked once, when no one reads any more.
func (f *feed) unread() bool {
	f.to.Close()
	f.mu.Lock() // after the last write
	defer f.mu.Unlock()
	sent := f.written
	if f.back != nil {
		n, _ := io.Copy(io.Discard, f.back)
		sent -= int(n)
	}
	return sent < len(f.head)
}

type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(p []byte) (int, error) { return w(p) }

// lastLine is the last thing that a program said, for an error.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(text, "\r", "")), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
