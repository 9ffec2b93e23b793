//go:build amd64 || arm64

package seccomp

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supervisor makes the connections of programs under a [Filter] with Notify, from
// a process that is not under it. It connects only to the proxy and to listeners
// of the same programs on loopback, and lets them listen on loopback only.
//
// The programs are hostile: they may change memory, descriptors and options of a
// socket at any moment, die, and ask without end. So addresses are copied once,
// sockets are judged after they were taken, and what runs at once is bounded.
// One Supervisor serves one listener, once.
type Supervisor struct {
	// Proxy is what may be connected to besides the programs' own listeners. The zero
	// value is nothing.
	Proxy netip.AddrPort
	// Own says whether everything that listens at an address belongs to the
	// programs. If nil, the supervisor knows which sockets it let listen. It is called
	// concurrently.
	Own func(netip.AddrPort) bool
	// Root is the process from which all programs under the filter descend. Only they may
	// be changed by each other, and not the root; none if it is 0.
	Root int
	// Namespace says that the root is the first process of a namespace of its own.
	Namespace bool
	// Unix lets connect and bind of Unix sockets go on unseen. Set it only where
	// Landlock restricts named sockets (ABI 9) and TCP (NoTCP), because a program can
	// put another socket in the place of the one that was looked at.
	Unix bool
	// Refused is told each refused call ("connect", "bind", "listen") and its address.
	// It is called concurrently, must return at once, and must bound what it keeps.
	Refused func(call, address string)

	own owned
}

// errGone is a call that no thread waits for any more.
var errGone = errors.New("the caller is gone")

// maxCalls is how many calls are worked on at once. Further ones wait in the
// kernel, where they hold up only their callers.
const maxCalls = 64

// Serve answers calls until no process is under the filter any more, or the
// context ends. It owns the listener and closes it; then waiting and later calls
// fail.
func (s *Supervisor) Serve(ctx context.Context, listener int) error {
	// Non-blocking, so that the runtime's poller waits instead of a thread.
	if err := unix.SetNonblock(listener, true); err != nil {
		unix.Close(listener)
		return fmt.Errorf("supervise connections: %w", err)
	}
	file := os.NewFile(uintptr(listener), "seccomp listener")
	defer file.Close()
	defer context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })()
	conn, err := file.SyscallConn()
	if err != nil {
		return fmt.Errorf("supervise connections: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	var calls sync.WaitGroup
	defer calls.Wait() // before the file is closed, whose number they use
	defer cancel()
	places := make(chan struct{}, maxCalls)
	for {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		var n notification
		var got error
		err := conn.Read(func(fd uintptr) bool {
			got = receive(int(fd), &n)
			return !errors.Is(got, unix.EAGAIN)
		})
		if errors.Is(got, errGone) || ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err := errors.Join(err, got); err != nil {
			return fmt.Errorf("supervise connections: %w", err)
		}
		calls.Go(func() {
			s.serve(ctx, listener, &n)
			<-places
		})
	}
}

// receive takes the next call. It returns EAGAIN if there is none now, and
// errGone if there will be none.
func receive(listener int, n *notification) error {
	for {
		ready := []unix.PollFd{{Fd: int32(listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, 0); err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		switch {
		case ready[0].Revents&unix.POLLIN != 0:
		case ready[0].Revents&(unix.POLLHUP|unix.POLLERR|unix.POLLNVAL) != 0:
			return errGone
		default:
			return unix.EAGAIN
		}
		*n = notification{} // the kernel refuses anything else
		err := ioctlPointer(listener, ioctlRecv, unsafe.Pointer(n))
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINTR) {
			continue // its caller died in between
		}
		return err
	}
}

// serve works on one call and answers it. The kernel drops an answer
// that no thread waits for.
func (s *Supervisor) serve(ctx context.Context, listener int, n *notification) {
	answer := response{ID: n.ID}
	err := s.judge(ctx, listener, n)
	var errno unix.Errno
	switch {
	case errors.Is(err, errGone):
		return
	case errors.Is(err, errContinue):
		answer.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	case errors.As(err, &errno):
		answer.Error = -int32(errno)
	case err != nil:
		answer.Error = -int32(unix.EPERM)
	}
	_ = ioctlPointer(listener, ioctlSend, unsafe.Pointer(&answer))
}

// judge takes what the call is about and has it done.
func (s *Supervisor) judge(ctx context.Context, listener int, n *notification) error {
	if pid, ok := n.target(); ok {
		return s.other(pid)
	}
	var address sockaddr
	if n.Call != unix.SYS_LISTEN {
		var err error
		if address, err = n.address(); err != nil {
			return err
		}
	}
	fd, err := n.socket()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !n.waits(listener) {
		return errGone
	}
	sock, err := inspect(fd)
	if err != nil {
		return err
	}
	switch n.Call {
	case unix.SYS_CONNECT:
		return s.connect(sock, address, func() bool { return ctx.Err() == nil && n.waits(listener) })
	case unix.SYS_BIND:
		return s.bind(sock, address)
	case unix.SYS_LISTEN:
		return s.listen(sock, int(int32(n.Args[1])))
	}
	return unix.ENOSYS
}
