package swap

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits bound what the processes of one Swap can use up. A zero field has the default that it
// names.
type Limits struct {
	Requests int           // in flight at a time, over all connections: 128
	Conns    int           // connections to hosts at a time, also idle ones: 256
	Still    time.Duration // life of a request of which no byte passes, in either direction: 10 min
}

func (l Limits) withDefaults() Limits {
	return Limits{Requests: cmp.Or(l.Requests, 128), Conns: cmp.Or(l.Conns, 256), Still: cmp.Or(l.Still, 10*time.Minute)}
}

const (
	maxHeader  = 64 << 10 // of a request, and of a reply
	maxStreams = 32       // requests of one HTTP/2 connection at a time; clients wait for a free one
	// What one request may send ahead, and one reply: net/http keeps it in memory until it is read.
	maxAhead, maxAheadOfHost = 64 << 10, 1 << 20
)

// upstream are the connections of one tunnel to its host.
type upstream struct {
	dial  func(context.Context) (net.Conn, error)
	slots chan struct{} // of all tunnels

	mu     sync.Mutex
	closed bool
	open   map[*counted]struct{}
}

var (
	errConns = errors.New("this session has too many connections to hosts that secrets are declared for; try again when some have ended")
	errEnded = errors.New("the connection of the client has ended")
)

// connect opens a connection and counts it until it is closed.
func (u *upstream) connect(ctx context.Context, _, _ string) (net.Conn, error) {
	select {
	case u.slots <- struct{}{}:
	default:
		return nil, notDialed{errConns}
	}
	conn, err := u.dial(ctx)
	if err != nil {
		<-u.slots
		return nil, notDialed{err}
	}
	c := &counted{Conn: conn, of: u}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		_ = conn.Close()
		<-u.slots
		return nil, notDialed{errEnded}
	}
	u.open[c] = struct{}{}
	return c, nil
}

// close closes what is still open.
func (u *upstream) close() {
	u.mu.Lock()
	u.closed = true
	list := make([]*counted, 0, len(u.open))
	for c := range u.open {
		list = append(list, c)
	}
	u.mu.Unlock()
	for _, c := range list {
		_ = c.Close()
	}
}

// counted is a connection that gives its place back when it is closed.
type counted struct {
	net.Conn
	of   *upstream
	once sync.Once
}

func (c *counted) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = c.Conn.Close()
		c.of.mu.Lock()
		delete(c.of.open, c)
		c.of.mu.Unlock()
		<-c.of.slots
	})
	return err
}

// watch ends a request when no byte of it has passed for a time.
type watch struct {
	after time.Duration
	timer *time.Timer

	mu    sync.Mutex
	over  bool // the handler has returned, or the request was ended
	ended bool
}

// newWatch returns a watch that must be stopped before the handler returns: what it does to
// the connection then would be done to the next request.
func newWatch(after time.Duration, w http.ResponseWriter, cancel func()) *watch {
	control := http.NewResponseController(w)
	s := &watch{after: after}
	s.timer = time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over {
			return
		}
		s.over, s.ended = true, true
		cancel()
		_ = control.SetReadDeadline(time.Unix(1, 0))
		_ = control.SetWriteDeadline(time.Now().Add(time.Second)) // for an answer that says so
	})
	return s
}

func (s *watch) stop() {
	s.timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// hasEnded reports whether the request was ended.
func (s *watch) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// reader returns a reader that tells the watch when bytes pass.
func (s *watch) reader(r io.Reader) io.Reader { return &watched{r, s} }

// body is reader for a body.
func (s *watch) body(b io.ReadCloser) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{s.reader(b), b}
}

type watched struct {
	io.Reader
	by *watch
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.by.timer.Reset(w.by.after)
	}
	return n, err
}
