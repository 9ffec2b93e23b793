//go:build unix

package sandbox

import (
	"errors"
	"net"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// control is one end of the socket between a keeper and its owner. Open files travel
// with the messages. Send may be called concurrently.
type control struct {
	conn *net.UnixConn
	most uint32 // bytes of a message that is read

	socket *os.File // kept open for the program that is executed next; may be nil

	mu sync.Mutex // one message at a time

	oob   [24 + 4*maxFiles + 64]byte
	files []*os.File // received with the message that is being read
}

var errClosedFile = errors.New("a file that a program should get is closed")

// send writes a message and hands on the open files. After any error but errClosedFile the
// other end may have a part of the message.
func (c *control) send(m *message, files ...*os.File) error {
	b := m.encode()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			if fds[i] = int(f.Fd()); fds[i] < 0 {
				return errClosedFile // and nothing was sent
			}
		}
		n, _, err := c.conn.WriteMsgUnix(b, unix.UnixRights(fds...), nil)
		runtime.KeepAlive(files) // the collector closes files that nothing names any more
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) == 0 {
		return nil
	}
	_, err := c.conn.Write(b)
	return err
}

// receive reads a message and the files that came with it, which the caller closes. With an
// error there are none.
func (c *control) receive() (message, []*os.File, error) {
	m, err := readMessage(c, c.most)
	files := c.files
	c.files = nil
	if err != nil {
		closeAll(files)
		return message{}, nil, err
	}
	return m, files, nil
}

// Read reads bytes and collects the files that come with them.
func (c *control) Read(b []byte) (int, error) {
	n, oobn, flags, _, err := c.conn.ReadMsgUnix(b, c.oob[:])
	if oobn > 0 {
		c.collect(c.oob[:oobn])
	}
	if err == nil && flags&unix.MSG_CTRUNC != 0 || len(c.files) > maxFiles {
		return n, errMessage
	}
	return n, err
}

func (c *control) collect(oob []byte) {
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for _, m := range list {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			c.files = append(c.files, os.NewFile(uintptr(fd), "received"))
		}
	}
}

// closeAll closes files. It does not wait until a socket has sent everything, as whoever
// sent it may have asked for.
func closeAll(files []*os.File) {
	for _, f := range files {
		if raw, err := f.SyscallConn(); err == nil {
			_ = raw.Control(func(fd uintptr) {
				_ = unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{})
			})
		}
		f.Close()
	}
}
