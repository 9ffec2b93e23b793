//go:build unix

package proc

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// pending checks a stream without reading it: whether data waits to be read, and
// whether no writer is left.
func pending(from io.Reader) (waiting, ended bool) {
	control, ok := from.(interface{ Control(func(uintptr)) error }) // a terminal
	if f, is := from.(syscall.Conn); is {                           // a pipe
		conn, err := f.SyscallConn()
		control, ok = conn, err == nil
	}
	if !ok {
		return false, false
	}
	// This fails for a closed stream, whose pump has ended.
	_ = control.Control(func(fd uintptr) {
		look := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(look, 0); err == nil && n == 1 {
			waiting = look[0].Revents&unix.POLLIN != 0
			ended = look[0].Revents&unix.POLLHUP != 0
		}
	})
	return waiting, ended
}
