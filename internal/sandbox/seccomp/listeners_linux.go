//go:build amd64 || arm64

package seccomp

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"hermes/internal/order"
)

// listening remembers a socket that listens now.
func (o *owned) listening(sock socket) error {
	var stat unix.Stat_t
	if err := unix.Fstat(sock.fd, &stat); err != nil {
		return err
	}
	address, err := sock.local()
	if err != nil {
		return err
	}
	o.add(stat.Ino, address)
	return nil
}

// holder says who listens at an address.
type holder int

const (
	noListener holder = iota
	ownListener
	foreignListener
)

// listens returns foreignListener if anything at the address, or at a wildcard that
// includes it, is not known to be the programs' own.
func (s *Supervisor) listens(address netip.AddrPort) holder {
	found, err := currentListeners(address)
	if err != nil {
		return foreignListener
	}
	if len(found) == 0 {
		return noListener
	}
	if s.Own != nil {
		if s.Own(address) {
			return ownListener
		}
		return foreignListener
	}
	for _, l := range found {
		if !s.own.has(l.inode, l.address) {
			return foreignListener
		}
	}
	return ownListener
}

// Listening returns the addresses on which sockets listen that the supervisor let
// listen, sorted.
func (s *Supervisor) Listening() []netip.AddrPort {
	all, err := currentListeners(netip.AddrPort{})
	if err != nil {
		return nil
	}
	var own []netip.AddrPort
	for _, l := range all {
		if s.own.has(l.inode, l.address) {
			own = append(own, l.address)
		}
	}
	order.By(own, netip.AddrPort.Compare)
	return slices.Compact(own)
}

type listener struct {
	address netip.AddrPort
	inode   uint64
}

// listeners reads the TCP sockets that take connections to an address from
// /proc/self/net. The zero address asks for all.
func listeners(address netip.AddrPort) ([]listener, error) {
	var found []listener
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(filepath.Join("/proc/self/net", name))
		if os.IsNotExist(err) && name == "tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			l, listens := parseListener(lines.Text())
			if !listens && strings.Contains(lines.Text(), ":") && !strings.Contains(lines.Text(), "sl") {
				break // listeners come first; there may be thousands of connections
			}
			if listens && (!address.IsValid() || takes(l.address, address)) {
				found = append(found, l)
			}
		}
		f.Close()
		if err := lines.Err(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// takes says whether a listener may get connections to an address. A wildcard
// of IPv6 may take IPv4's, too.
func takes(listener, address netip.AddrPort) bool {
	return listener.Port() == address.Port() &&
		(listener.Addr() == address.Addr() || listener.Addr().IsUnspecified())
}

// parseListener reads a line of /proc/net/tcp: number, local and remote address in
// hexadecimal words of the machine, state, and as the tenth field the inode.
func parseListener(line string) (listener, bool) {
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != "0A" { // the state of listeners
		return listener{}, false
	}
	host, port, _ := strings.Cut(fields[1], ":")
	words, err := hex.DecodeString(host)
	if err != nil || len(words)%4 != 0 {
		return listener{}, false
	}
	for i := 0; i < len(words); i += 4 {
		binary.NativeEndian.PutUint32(words[i:], binary.BigEndian.Uint32(words[i:]))
	}
	ip, ok := netip.AddrFromSlice(words)
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil || !ok {
		return listener{}, false
	}
	inode, err := strconv.ParseUint(fields[9], 10, 64)
	return listener{address: netip.AddrPortFrom(ip.Unmap(), uint16(number)), inode: inode}, err == nil
}

// owned remembers what a [Supervisor] did to the programs' sockets. Cookies are
// never used twice by the kernel. It is bounded: programs that make more sockets
// find that older ones cannot listen or be connected to.
type owned struct {
	mu        sync.Mutex
	addresses map[uint64]struct{}       // cookies of sockets that we bound
	listeners map[uint64]netip.AddrPort // by inode
}

const maxOwned = 1 << 14

func (o *owned) bound(cookie uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.addresses == nil {
		o.addresses = make(map[uint64]struct{})
	}
	makeRoom(o.addresses)
	o.addresses[cookie] = struct{}{}
}

func (o *owned) isBound(cookie uint64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.addresses[cookie]
	return ok
}

func (o *owned) add(inode uint64, address netip.AddrPort) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.listeners == nil {
		o.listeners = make(map[uint64]netip.AddrPort)
	}
	makeRoom(o.listeners)
	o.listeners[inode] = address
}

// has says whether we let this socket listen at this address. Numbers of inodes
// come back after four thousand million sockets, addresses are taken while
// somebody listens: the two together are not met again by a foreign listener.
func (o *owned) has(inode uint64, address netip.AddrPort) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.listeners[inode] == address && address.IsValid()
}

func makeRoom[K comparable, V any](m map[K]V) {
	for k := range m {
		if len(m) < maxOwned {
			return
		}
		delete(m, k)
	}
}
