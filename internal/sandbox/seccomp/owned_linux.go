//go:build amd64 || arm64

package seccomp

import (
	"net/netip"
	"sync"
)

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
