// Package accepttest has a listener for tests that fails for a while. Start at Listener.
package accepttest

import (
	"net"
	"sync"
	"syscall"
)

// Listener is a listener whose Accept fails some times, as if too many files were open.
type Listener struct {
	mu     sync.Mutex
	fails  int
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

// New returns a listener whose Accept fails that many times first.
func New(fails int) *Listener {
	return &Listener{fails: fails, conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Conns takes the connections that are accepted after the failures. A send waits for that.
func (l *Listener) Conns() chan<- net.Conn { return l.conns }

// Accept fails, or waits for a connection or for Close.
func (l *Listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	failed := l.fails > 0
	if failed {
		l.fails--
	}
	l.mu.Unlock()
	if failed {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: net.ErrClosed}
	}
}

// Close ends Accept. It may be called again.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is an address of no meaning.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{} }
