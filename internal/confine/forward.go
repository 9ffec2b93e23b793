package confine

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"

	"hermes/internal/accept"
	"hermes/internal/sandbox"
)

// forward makes a port inside reachable on the host's loopback, after the user allowed
// it.
type forward struct {
	listener net.Listener
	keeper   *sandbox.Keeper
	ctx      context.Context // ends with close
	cancel   context.CancelFunc
	work     sync.WaitGroup
	mu       sync.Mutex
	conns    map[net.Conn]struct{}
}

// maxForwarded is how many connections of one port are carried at once.
const maxForwarded = 64

// forwardPort begins to forward a port.
func forwardPort(k *sandbox.Keeper, port int) (*forward, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("port %d of the sandbox cannot be opened on this machine: %w; use another port inside", port, err)
	}
	return forwardFrom(l, k, port), nil
}

// forwardFrom forwards the connections of a listener to a port, until close.
func forwardFrom(l net.Listener, k *sandbox.Keeper, port int) *forward {
	f := &forward{listener: l, keeper: k, conns: map[net.Conn]struct{}{}}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.work.Go(func() { f.serve(port) })
	return f
}

func (f *forward) serve(port int) {
	places := make(chan struct{}, maxForwarded)
	for {
		conn, err := accept.Next(f.ctx, f.listener)
		if err != nil {
			return
		}
		places <- struct{}{}
		f.work.Go(func() {
			f.carry(conn, port)
			<-places
		})
	}
}

func (f *forward) carry(conn net.Conn, port int) {
	inside, err := f.keeper.Dial(port)
	if err != nil {
		conn.Close()
		return
	}
	f.mu.Lock()
	if f.ctx.Err() != nil {
		f.mu.Unlock()
		conn.Close()
		inside.Close()
		return
	}
	f.conns[conn], f.conns[inside] = struct{}{}, struct{}{}
	f.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { copyOne(conn, inside) })
	both.Go(func() { copyOne(inside, conn) })
	both.Wait()
	f.mu.Lock()
	delete(f.conns, conn)
	delete(f.conns, inside)
	f.mu.Unlock()
	conn.Close()
	inside.Close()
}

func copyOne(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if t, ok := to.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
	}
}

// close ends the forwarding and its connections.
func (f *forward) close() {
	f.listener.Close()
	f.mu.Lock()
	f.cancel()
	for c := range f.conns {
		c.Close()
	}
	f.mu.Unlock()
	f.work.Wait()
}
