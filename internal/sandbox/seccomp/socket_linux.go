//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"net/netip"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errContinue lets the caller make the call itself.
var errContinue = errors.New("continue")

// socket is our copy of a caller's socket. What it is was asked of the socket
// itself, and cannot change any more; its options can.
type socket struct {
	fd                     int
	domain, kind, protocol int
	cookie                 uint64 // the kernel never gives it to another socket
}

func inspect(fd int) (socket, error) {
	s := socket{fd: fd}
	for _, part := range []struct {
		name int
		into *int
	}{{unix.SO_DOMAIN, &s.domain}, {unix.SO_TYPE, &s.kind}, {unix.SO_PROTOCOL, &s.protocol}} {
		value, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, part.name)
		if err != nil {
			return s, err
		}
		*part.into = value
	}
	var err error
	s.cookie, err = unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_COOKIE)
	return s, err
}

func (s socket) tcp() bool {
	return (s.domain == unix.AF_INET || s.domain == unix.AF_INET6) &&
		s.kind == unix.SOCK_STREAM && s.protocol == unix.IPPROTO_TCP
}

// only6 says whether an IPv6 socket refuses IPv4.
func (s socket) only6() bool {
	value, err := unix.GetsockoptInt(s.fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY)
	return err == nil && value != 0
}

func (s socket) connect(a sockaddr) error {
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)))
	return orNil(errno)
}

func (s socket) bind(a sockaddr) error {
	_, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(len(a)))
	return orNil(errno)
}

// local returns where the socket is bound.
func (s socket) local() (netip.AddrPort, error) {
	a := make(sockaddr, maxAddress)
	length := uint32(len(a))
	_, _, errno := unix.Syscall(unix.SYS_GETSOCKNAME, uintptr(s.fd), uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&length)))
	if errno != 0 {
		return netip.AddrPort{}, errno
	}
	address, ok := a[:min(int(length), len(a))].internet()
	if !ok {
		return netip.AddrPort{}, unix.EINVAL
	}
	return address, nil
}

func orNil(errno unix.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// How long a connect of a blocking socket may take, and how often it is checked
// that its caller lives. A connection to loopback takes long only if its
// listener does not accept.
const (
	connectPatience = 20 * time.Second
	connectCheck    = 50 * time.Millisecond
)

// patiently connects, and gives the attempt up when nobody waits for it any
// more: then it shuts the socket down, which wakes a blocked connect.
func (s socket) patiently(a sockaddr, waits func() bool) error {
	var mu sync.Mutex
	over, late := false, false
	deadline := time.Now().Add(connectPatience)
	var check *time.Timer
	mu.Lock()
	check = time.AfterFunc(connectCheck, func() {
		mu.Lock()
		defer mu.Unlock()
		if over { // the descriptor may be another file's by now
			return
		}
		late = time.Now().After(deadline)
		if late || !waits() {
			_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
		}
		check.Reset(connectCheck)
	})
	mu.Unlock()
	err := s.connect(a)
	mu.Lock()
	defer mu.Unlock()
	over = true
	check.Stop()
	if late && err != nil {
		return unix.ETIMEDOUT
	}
	return err
}
