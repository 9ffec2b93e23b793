package sshdtest

import (
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
)

// Network is a way to a server that can fail. Its methods may be called concurrently.
type Network struct {
	// Port is where it listens, on 127.0.0.1.
	Port int

	to       string
	listener net.Listener
	mu       sync.Mutex
	moves    *sync.Cond
	frozen   bool
	open     map[net.Conn]bool
	work     sync.WaitGroup
}

// NewNetwork makes a way to the server, and a configuration that uses it the client's.
func (s *Server) NewNetwork(t testing.TB) *Network {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	check(t, err)
	n := &Network{Port: l.Addr().(*net.TCPAddr).Port, to: "127.0.0.1:" + strconv.Itoa(s.Port), listener: l, open: map[net.Conn]bool{}}
	n.moves = sync.NewCond(&n.mu)
	n.work.Go(n.serve)
	t.Cleanup(func() {
		l.Close()
		n.Cut()
		n.work.Wait()
	})
	s.Write(t, "config", s.ClientConfig(n.Port))
	return n
}

// Freeze stops all data in both directions; connections stay open, and new ones hear nothing.
func (n *Network) Freeze() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = true
}

// Cut closes all connections. The network works then.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = false
	for c := range n.open {
		c.Close()
	}
	n.moves.Broadcast()
}

// Thaw lets what was frozen move again.
func (n *Network) Thaw() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = false
	n.moves.Broadcast()
}

func (n *Network) serve() {
	for {
		c, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.work.Go(func() {
			defer n.drop(c)
			n.keep(c)
			server, err := net.Dial("tcp4", n.to)
			if err != nil {
				return
			}
			n.keep(server)
			n.work.Go(func() {
				defer n.drop(c)
				n.copy(c, server)
			})
			defer n.drop(server)
			n.copy(server, c)
		})
	}
}

func (n *Network) keep(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[c] = true
}

func (n *Network) drop(c net.Conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, c)
	c.Close()
}

// copy moves data until one side closes, and not while the network is frozen.
func (n *Network) copy(to io.Writer, from io.Reader) {
	b := make([]byte, 32<<10)
	for {
		m, err := from.Read(b)
		n.mu.Lock()
		for n.frozen {
			n.moves.Wait()
		}
		n.mu.Unlock()
		if m > 0 {
			if _, werr := to.Write(b[:m]); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
