//go:build amd64 || arm64

package sandbox

import (
	"net"
	"os"

	"hermes/internal/sandbox/mount"
	"hermes/internal/sandbox/seccomp"
)

// handed are the files that a keeper gives to its owner.
type handed struct {
	proxy  *os.File // listens where the proxy is reached; nil if the owner has it
	notify *os.File // the notifications of seccomp; nil if there are none
	diag   *os.File // tells who listens in the network of layer A; nil if it is the owner's own
}

// list has the files in the order in which they travel.
func (h handed) list() []*os.File { return []*os.File{h.proxy, h.notify, h.diag} }

func (h handed) files() (list []*os.File) {
	for _, f := range h.list() {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}

// slots say which file is where among those handed over: the proxy's, seccomp's, and that of who listens.
func (h handed) slots() []int64 {
	s := []int64{-1, -1, -1}
	n := int64(0)
	for i, f := range h.list() {
		if f != nil {
			s[i] = n
			n++
		}
	}
	return s
}

// raise builds the walls around the calling thread, which is locked.
func raise(o order, self int) (h handed, lacks []string, err error) {
	p := o.policy
	if p.Layer == None {
		return h, nil, nil
	}
	if p.Layer == A {
		if lacks, err = ownRoot(p); err != nil {
			return h, nil, err
		}
		if p.Network == Proxied {
			if h.proxy, err = listenInside(o.target.Port); err != nil {
				return h, nil, err
			}
		}
		if fd, err := seccomp.DiagSocket(); err == nil { // without one the keeper is asked
			h.diag = os.NewFile(uintptr(fd), "diag")
		}
	}
	// Root keeps none either: with them it reads the memory of every process.
	if err := mount.Drop(); err != nil {
		return h, nil, err
	}
	abi, err := usedABI(o.abi)
	if err != nil {
		return h, nil, err
	}
	more, err := restrict(p, self, abi)
	if err != nil {
		return h, nil, err
	}
	h.notify, err = filter(p, abi)
	return h, append(lacks, more...), err
}

// ownRoot replaces the root folder by one that holds what the policy names.
func ownRoot(p Policy) (lacks []string, err error) {
	home := p.PrivateHome
	if p.Home == "" {
		home = ""
	}
	report, err := mount.Build(mount.Root{
		Read: p.Read, Write: p.Write, Protected: p.Protected, Hidden: p.Hidden, Temp: p.Temp, Home: p.Home, PrivateHome: home, Devices: p.Devices,
		Links: p.Links,
	})
	for _, u := range report.Unprotected {
		lacks = append(lacks, u.Path+" is not protected: "+u.Why)
	}
	return lacks, err
}

// listenInside makes the socket on which the proxy is reached in the new network. Its port is
// not that of the host which is attacked: the kernel chooses both, and what answers there
// would look like the host.
func listenInside(attacked int) (*os.File, error) {
	l, err := listenBut(attacked, listen)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	return l.(*net.TCPListener).File()
}

// listenBut listens on another port than one.
func listenBut(port int, listen func() (net.Listener, error)) (net.Listener, error) {
	l, err := listen()
	if err != nil || l.Addr().(*net.TCPAddr).Port != port {
		return l, err
	}
	defer l.Close() // it keeps its port meanwhile
	return listen()
}
