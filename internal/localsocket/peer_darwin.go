package localsocket

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerOf returns the process that made the other end of a connection. If it belongs to another
// user, the error is [ErrOtherUser].
func PeerOf(c net.Conn) (Peer, error) {
	var cred *unix.Xucred
	var pid int
	err := control(c, func(fd int) (err error) {
		if cred, err = unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED); err != nil {
			return os.NewSyscallError("LOCAL_PEERCRED", err)
		}
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return os.NewSyscallError("LOCAL_PEERPID", err)
	})
	switch {
	case err != nil:
		return Peer{}, err
	case int(cred.Uid) != os.Geteuid():
		return Peer{}, ErrOtherUser
	case pid <= 0:
		return Peer{}, errHidden
	}
	return Peer{PID: pid}, nil
}
