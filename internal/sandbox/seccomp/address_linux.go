//go:build amd64 || arm64

package seccomp

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// maxAddress is the length of the longest address (sockaddr_storage).
const maxAddress = 128

// sockaddr is our own copy of the address of a call. The caller's copy may have
// changed since.
type sockaddr []byte

func (a sockaddr) family() int {
	if len(a) < 2 {
		return -1
	}
	return int(binary.NativeEndian.Uint16(a))
}

// internet returns the address and port, with mapped addresses unwrapped. It is
// false for other families, and for addresses that are too short.
func (a sockaddr) internet() (netip.AddrPort, bool) {
	var ip netip.Addr
	switch {
	case a.family() == unix.AF_INET && len(a) >= unix.SizeofSockaddrInet4:
		ip = netip.AddrFrom4([4]byte(a[4:8]))
	case a.family() == unix.AF_INET6 && len(a) >= 24: // scope_id may be missing
		ip = netip.AddrFrom16([16]byte(a[8:24])).Unmap()
	default:
		return netip.AddrPort{}, false
	}
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(a[2:4])), true
}

// to returns the same kind of address for another host.
func (a sockaddr) to(ip netip.Addr) sockaddr {
	changed := append(sockaddr(nil), a...)
	if a.family() == unix.AF_INET {
		four := ip.As4()
		copy(changed[4:8], four[:])
		return changed
	}
	sixteen := ip.As16()
	copy(changed[8:24], sixteen[:])
	return changed
}

// loopbackAddress is the address that listening on a wildcard becomes.
func loopbackAddress(domain int, only6 bool) netip.Addr {
	if domain == unix.AF_INET6 && only6 {
		return netip.IPv6Loopback()
	}
	// A socket for both families listens on IPv4's loopback: programs that write
	// 127.0.0.1 are many, and those that write localhost try both.
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}

// newSockaddr builds an address of the socket's domain.
func newSockaddr(domain int, address netip.AddrPort) sockaddr {
	size := unix.SizeofSockaddrInet4
	if domain == unix.AF_INET6 {
		size = unix.SizeofSockaddrInet6
	}
	a := make(sockaddr, size)
	binary.NativeEndian.PutUint16(a, uint16(domain))
	binary.BigEndian.PutUint16(a[2:4], address.Port())
	return a.to(address.Addr())
}
