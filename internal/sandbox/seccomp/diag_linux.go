//go:build amd64 || arm64

package seccomp

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel's messages about sockets (sock_diag), which package unix does not
// have. They are the fast way to ask who listens: a text file about all
// connections takes milliseconds.
const (
	sockDiagByFamily = 20
	stateListen      = 10
	requestSize      = 16 + 56 // header and struct inet_diag_req_v2
	messageSize      = 72      // struct inet_diag_msg
)

// currentListeners returns the TCP listeners of this process's network that take
// connections to an address; the zero address asks for all. Kernels without the
// messages have the text files.
func currentListeners(address netip.AddrPort) ([]listener, error) {
	found, err := askListeners(address)
	if err != nil {
		return listeners(address)
	}
	return found, nil
}

func askListeners(address netip.AddrPort) ([]listener, error) {
	fd, err := DiagSocket()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return askOn(fd, address)
}

// DiagSocket makes a socket that answers, also to another process, who listens in the
// network in which it was made. The caller closes it.
func DiagSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return -1, err
	}
	patience := unix.NsecToTimeval(int64(time.Second))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &patience); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// ListeningOn asks a socket of [DiagSocket] for the TCP addresses that are listened on. It
// is not for concurrent use.
func ListeningOn(fd int) ([]netip.AddrPort, error) {
	all, err := askOn(fd, netip.AddrPort{})
	var list []netip.AddrPort
	for _, l := range all {
		list = append(list, l.address)
	}
	return list, err
}

// askOn asks a socket for listeners.
func askOn(fd int, address netip.AddrPort) ([]listener, error) {
	var found []listener
	for _, family := range []uint8{unix.AF_INET, unix.AF_INET6} {
		if err := unix.Sendto(fd, request(family, address.Port()), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, err
		}
		all, err := replies(fd)
		if err != nil {
			return nil, err
		}
		for _, l := range all {
			if !address.IsValid() || takes(l.address, address) {
				found = append(found, l)
			}
		}
	}
	return found, nil
}

// request asks for the listeners of a family on a port, or on all if it is 0.
func request(family uint8, port uint16) []byte {
	r := make([]byte, requestSize)
	binary.NativeEndian.PutUint32(r[0:], requestSize)
	binary.NativeEndian.PutUint16(r[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(r[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	r[16], r[17] = family, unix.IPPROTO_TCP
	binary.NativeEndian.PutUint32(r[20:], 1<<stateListen)
	binary.BigEndian.PutUint16(r[24:], port)
	return r
}

// replies reads to the end of an answer.
func replies(fd int) ([]listener, error) {
	var found []listener
	buffer := make([]byte, 1<<15)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		messages, err := syscall.ParseNetlinkMessage(buffer[:n])
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			switch m.Header.Type {
			case unix.NLMSG_DONE:
				return found, nil
			case unix.NLMSG_ERROR:
				return nil, unix.EOPNOTSUPP
			}
			if l, ok := parseReply(m.Data); ok {
				found = append(found, l)
			}
		}
	}
}

func parseReply(m []byte) (listener, bool) {
	if len(m) < messageSize || m[1] != stateListen {
		return listener{}, false
	}
	ip := netip.AddrFrom4([4]byte(m[8:12]))
	if m[0] == unix.AF_INET6 {
		ip = netip.AddrFrom16([16]byte(m[8:24])).Unmap()
	}
	return listener{
		address: netip.AddrPortFrom(ip, binary.BigEndian.Uint16(m[4:6])),
		inode:   uint64(binary.NativeEndian.Uint32(m[68:72])),
	}, true
}
