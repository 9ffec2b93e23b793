//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif: a call that waits for its answer. Its
// arguments are the caller's registers and do not change.
type notification struct {
	ID    uint64
	PID   uint32 // of the thread
	Flags uint32
	Call  int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	ID    uint64
	Value int64
	Error int32
	Flags uint32
}

const (
	ioctlIDValid     = 0x40082102 // from Linux 5.17 on; it was 0x80082102 before, which newer ones accept
	ioctlIDValidOld  = 0x80082102
	pidfdThread      = unix.O_EXCL // PIDFD_THREAD, from Linux 6.9 on
	ioctlRecv        = unix.SECCOMP_IOCTL_NOTIF_RECV
	ioctlSend        = unix.SECCOMP_IOCTL_NOTIF_SEND
	notificationSize = unsafe.Sizeof(notification{})
)

func ioctlPointer(fd int, request uint, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// waits says whether the call still waits. While it does, its thread has its
// number, so what was read by that number before was the right thread's.
func (n *notification) waits(listener int) bool {
	id := n.ID
	err := ioctlPointer(listener, ioctlIDValid, unsafe.Pointer(&id))
	if errors.Is(err, unix.EINVAL) {
		err = ioctlPointer(listener, ioctlIDValidOld, unsafe.Pointer(&id))
	}
	return err == nil
}

// descriptor is the caller's number of the socket, an int.
func (n *notification) descriptor() int { return int(int32(n.Args[0])) }

// address copies the address that the second argument leads to, of the length in
// the third, which is an int.
func (n *notification) address() (sockaddr, error) {
	length := int32(n.Args[2])
	if length < 2 || length > maxAddress {
		return nil, unix.EINVAL
	}
	a := make(sockaddr, length)
	local := []unix.Iovec{{Base: &a[0]}}
	local[0].SetLen(len(a))
	remote := []unix.RemoteIovec{{Base: uintptr(n.Args[1]), Len: len(a)}}
	got, err := unix.ProcessVMReadv(int(n.PID), local, remote, 0)
	if err == nil && got != len(a) {
		err = unix.EFAULT
	}
	return a, err
}

// socket takes a copy of the caller's descriptor, which the caller of socket
// closes. It is whatever the number means at this moment.
func (n *notification) socket() (int, error) {
	pidfd, err := unix.PidfdOpen(int(n.PID), pidfdThread)
	if errors.Is(err, unix.EINVAL) {
		var process int
		if process, err = threadGroup(int(n.PID)); err != nil {
			return -1, err
		}
		pidfd, err = unix.PidfdOpen(process, 0)
	}
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd)
	return unix.PidfdGetfd(pidfd, n.descriptor(), 0)
}

// threadGroup returns the process that a thread belongs to.
func threadGroup(thread int) (int, error) {
	process, _, err := family(fmt.Sprintf("/proc/%d/status", thread))
	return process, err
}
