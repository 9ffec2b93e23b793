//go:build amd64 || arm64

package seccomp

import (
	"encoding/binary"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// connect makes a connection if its address is allowed. waits says whether the
// caller still waits.
func (s *Supervisor) connect(sock socket, a sockaddr, waits func() bool) error {
	if sock.domain == unix.AF_UNIX && s.Unix {
		return errContinue
	}
	if !sock.tcp() {
		return s.refused("connect", a, unix.EPERM)
	}
	if a.family() == unix.AF_UNSPEC { // takes a connection down
		return sock.connect(a)
	}
	target, ok := a.internet()
	if !ok {
		return unix.EINVAL
	}
	if target.Addr().IsUnspecified() { // the kernel takes it for loopback
		target = netip.AddrPortFrom(loopbackAddress(sock.domain, target.Addr().Is6()), target.Port())
		a = a.to(target.Addr())
	}
	if target == s.Proxy && s.Proxy.IsValid() {
		return sock.patiently(a, waits)
	}
	if !target.Addr().IsLoopback() {
		return s.refused("connect", a, unix.EACCES)
	}
	found := s.listens(target)
	if found == noListener && target.Addr() == netip.IPv6Loopback() {
		// What listened on the wildcard of both families listens on IPv4's loopback now.
		four := loopbackAddress(unix.AF_INET, false)
		found = s.listens(netip.AddrPortFrom(four, target.Port()))
		a = a.to(four)
	}
	switch found {
	case ownListener:
		return sock.patiently(a, waits)
	case foreignListener:
		return s.refused("connect", a, unix.EACCES)
	}
	return unix.ECONNREFUSED // as if it had been tried
}

// bind binds to loopback only. A wildcard, which most servers use unasked,
// becomes loopback.
func (s *Supervisor) bind(sock socket, a sockaddr) error {
	switch {
	case sock.domain == unix.AF_UNIX && s.Unix:
		return errContinue
	case sock.domain == unix.AF_NETLINK && sock.protocol == unix.NETLINK_ROUTE:
		return bindRouting(sock, a)
	case !sock.tcp():
		return s.refused("bind", a, unix.EPERM)
	}
	if sock.domain == unix.AF_INET && a.family() == unix.AF_UNSPEC && len(a) >= unix.SizeofSockaddrInet4 {
		a = append(sockaddr(nil), a...)
		binary.NativeEndian.PutUint16(a, unix.AF_INET) // an old habit that Linux allows
	}
	address, ok := a.internet()
	if !ok {
		return unix.EINVAL
	}
	if address.Addr().IsUnspecified() {
		// A mapped wildcard is one of IPv4.
		only6 := sock.only6() && address.Addr().Is6()
		address = netip.AddrPortFrom(loopbackAddress(sock.domain, only6), address.Port())
		a = a.to(address.Addr())
	}
	if !address.Addr().IsLoopback() {
		return s.refused("bind", a, unix.EACCES)
	}
	if port := address.Port(); port != 0 && port < firstFreePort() { // the programs themselves could not
		return s.refused("bind", a, unix.EACCES)
	}
	// With SO_REUSEPORT two sockets of one user share a port, and the programs would get
	// connections that are meant for somebody else.
	if address.Port() != 0 && s.listens(address) == foreignListener {
		return unix.EADDRINUSE
	}
	if err := sock.bind(a); err != nil {
		return err
	}
	s.own.bound(sock.cookie)
	return nil
}

// firstFreePort is the lowest port that needs no right.
func firstFreePort() uint16 {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if port, bad := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 16); err == nil && bad == nil {
		return uint16(port)
	}
	return 1024
}

// bindRouting binds without joining groups, as programs do that list interfaces.
func bindRouting(sock socket, a sockaddr) error {
	if len(a) < unix.SizeofSockaddrNetlink || a.family() != unix.AF_NETLINK {
		return unix.EINVAL
	}
	if groups := binary.NativeEndian.Uint32(a[8:12]); groups != 0 {
		return unix.EPERM
	}
	return sock.bind(a)
}

// listen makes a socket listen that was bound by us. The kernel gives one that
// was not a port on all addresses. One that is connected is bound, too, but its
// address can be lost before it listens: it cannot be bound here, and so it fails.
func (s *Supervisor) listen(sock socket, backlog int) error {
	if sock.domain == unix.AF_UNIX {
		return unix.Listen(sock.fd, backlog)
	}
	if !sock.tcp() {
		return s.refused("listen", nil, unix.EPERM)
	}
	if !s.own.isBound(sock.cookie) {
		home := netip.AddrPortFrom(loopbackAddress(sock.domain, sock.only6()), 0)
		if err := sock.bind(newSockaddr(sock.domain, home)); err != nil {
			return err
		}
		s.own.bound(sock.cookie)
	}
	if err := unix.Listen(sock.fd, backlog); err != nil {
		return err
	}
	return s.own.listening(sock)
}

// refused tells the owner, and returns the answer for the caller.
func (s *Supervisor) refused(call string, a sockaddr, errno unix.Errno) error {
	if s.Refused == nil {
		return errno
	}
	address := "a socket that is not TCP"
	if target, ok := a.internet(); ok {
		address = target.String()
	}
	s.Refused(call, address)
	return errno
}
