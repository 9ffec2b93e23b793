//go:build unix

package localsocket

import (
	"errors"
	"net"
	"syscall"
)

// control calls f with the descriptor of a connection.
func control(c net.Conn, f func(fd int) error) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return errors.New("the connection is no socket")
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
