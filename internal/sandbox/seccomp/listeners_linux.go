//go:build amd64 || arm64

package seccomp

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
	found, err := listeners("/proc/self/net", address)
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
	all, err := listeners("/proc/self/net", netip.AddrPort{})
	if err != nil {
		return nil
	}
	var own []netip.AddrPort
	for _, l := range all {
		if s.own.has(l.inode, l.address) {
			own = append(own, l.address)
		}
	}
	slices.SortFunc(own, netip.AddrPort.Compare)
	return slices.Compact(own)
}

// Owner returns a function that says whether everything that listens at an
// address is held by a descendant of the process. It reads /proc and is slow
// (milliseconds); [Supervisor] itself remembers which sockets it let listen and
// needs it only for listeners that were made in another way.
func Owner(root int) func(netip.AddrPort) bool {
	return func(address netip.AddrPort) bool {
		found, err := listeners(fmt.Sprintf("/proc/%d/net", root), address)
		if err != nil || len(found) == 0 {
			return false
		}
		held := heldBy(descendants(root))
		return !slices.ContainsFunc(found, func(l listener) bool { return !held[l.inode] })
	}
}

type listener struct {
	address netip.AddrPort
	inode   uint64
}

// listeners returns the TCP sockets that take connections to an address. An
// address without a port stands for all.
func listeners(folder string, address netip.AddrPort) ([]listener, error) {
	var found []listener
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open(filepath.Join(folder, name))
		if os.IsNotExist(err) && name == "tcp6" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			l, ok := parseListener(lines.Text())
			if ok && (!address.IsValid() || takes(l.address, address)) {
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
	const stateListen = "0A"
	fields := strings.Fields(line)
	if len(fields) < 10 || fields[3] != stateListen {
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

// descendants returns a process and all below it.
func descendants(root int) []int {
	children := make(map[int][]int)
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// The name of the program, in brackets, may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	all := []int{root}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// heldBy returns the inodes of the sockets that processes have open.
func heldBy(processes []int) map[uint64]bool {
	held := make(map[uint64]bool)
	for _, pid := range processes {
		folder := fmt.Sprintf("/proc/%d/fd", pid)
		entries, _ := os.ReadDir(folder)
		for _, e := range entries {
			target, _ := os.Readlink(filepath.Join(folder, e.Name()))
			number, ok := strings.CutPrefix(target, "socket:[")
			if inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64); ok && err == nil {
				held[inode] = true
			}
		}
	}
	return held
}
