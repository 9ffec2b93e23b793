package localsocket

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf returns the process that made the other end of a connection. If it belongs to another
// user, the error is [ErrOtherUser].
func PeerOf(c net.Conn) (Peer, error) {
	var cred *unix.Ucred
	handle := -1
	err := control(c, func(fd int) (err error) {
		if cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil {
			return os.NewSyscallError("SO_PEERCRED", err)
		}
		if h, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD); err == nil { // since Linux 6.5
			handle = h
		}
		return nil
	})
	switch {
	case err != nil:
		return Peer{}, err
	case int(cred.Uid) != os.Geteuid():
		closeHandle(handle)
		return Peer{}, ErrOtherUser
	case cred.Pid <= 0:
		closeHandle(handle)
		return Peer{}, errHidden
	}
	p := Peer{PID: int(cred.Pid)}
	if handle >= 0 {
		f := os.NewFile(uintptr(handle), "peer") // the runtime closes it with the peer
		p.alive = func() bool {
			poll := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}} // readable once it has ended
			n, err := unix.Poll(poll, 0)
			return err == nil && n == 0
		}
	}
	return p, nil
}

func closeHandle(fd int) {
	if fd >= 0 {
		_ = unix.Close(fd)
	}
}
