package egress

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's connection. Bytes that were looked at can be read again.
type conn struct {
	net.Conn
	session *Session
	ahead   []byte
	once    sync.Once
}

// Read reads what was looked at first.
func (c *conn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		c.ahead = c.ahead[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// peek returns the next n bytes without taking them.
func (c *conn) peek(n int) ([]byte, error) {
	for len(c.ahead) < n {
		chunk := make([]byte, max(512, n-len(c.ahead)))
		got, err := c.Conn.Read(chunk)
		if c.ahead = append(c.ahead, chunk[:got]...); len(c.ahead) < n && err != nil {
			return nil, err
		}
	}
	return c.ahead[:n], nil
}

// unread puts bytes back in front of what comes next.
func (c *conn) unread(b []byte) { c.ahead = append(append([]byte(nil), b...), c.ahead...) }

// CloseWrite ends the direction to the client.
func (c *conn) CloseWrite() error { return closeWrite(c.Conn) }

// Close closes the connection once and gives its place to another.
func (c *conn) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = c.Conn.Close()
		c.session.drop(c)
	})
	return err
}

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}

// early is a connection from which some bytes were read too soon.
type early struct {
	net.Conn
	r io.Reader
}

func (e early) Read(p []byte) (int, error) { return e.r.Read(p) }
func (e early) CloseWrite() error          { return closeWrite(e.Conn) }

// relay copies both directions until each has ended, one fails, or no byte passes for the idle
// time. An end in one direction is passed on and the other goes on. first may look at what the
// client sends before any of it is passed; its error ends both. It closes server, and client
// if something failed.
func relay(client *conn, server net.Conn, idle time.Duration, first func() error) (received, sent int64, err error) {
	defer server.Close()
	var last atomic.Int64
	last.Store(time.Now().UnixNano())
	done := make(chan error, 1)
	go func() {
		n, err := int64(0), first()
		if err == nil {
			n, err = pump(server, client, idle, &last)
		}
		sent = n
		if err != nil {
			_, _ = server.Close(), client.Close()
		}
		done <- err
	}()
	received, err = pump(client, server, idle, &last)
	if err != nil {
		_, _ = server.Close(), client.Close()
	}
	if other := <-done; other != nil {
		if _, ok := errors.AsType[*refused](other); ok || err == nil {
			err = other
		}
	}
	return received, sent, err
}

// pump copies one direction and passes its end on.
func pump(to, from net.Conn, idle time.Duration, last *atomic.Int64) (total int64, err error) {
	buf := make([]byte, 32<<10)
	for {
		if from.SetReadDeadline(time.Now().Add(idle)) != nil {
			return total, net.ErrClosed
		}
		n, err := from.Read(buf)
		if n > 0 {
			last.Store(time.Now().UnixNano())
			_ = to.SetWriteDeadline(time.Now().Add(idle))
			if _, err := to.Write(buf[:n]); err != nil {
				return total, err
			}
			total += int64(n)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return total, closeWrite(to)
		case errors.Is(err, os.ErrDeadlineExceeded) && time.Since(time.Unix(0, last.Load())) < idle: // the other direction is busy
		default:
			return total, err
		}
	}
}
