//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"hermes/internal/sandbox/landlock"
	"hermes/internal/sandbox/mount"
	"hermes/internal/sandbox/seccomp"
)

// attributes says how the keeper's process is made.
func attributes(l Layer) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{}
	if l == A {
		attr = mount.Attr()
	}
	attr.Setsid = true // signals of the user's terminal are not for it
	return attr
}

// take keeps what the keeper handed over, and begins to answer its connections.
func (k *Keeper) take(c Config, slots []int64, files []*os.File) error {
	defer closeAll(files)
	proxy, err := handedFile(slots[0], files)
	if err != nil {
		return err
	}
	notify, err := handedFile(slots[1], files)
	if err != nil {
		return err
	}
	diag, err := handedFile(slots[2], files)
	if err != nil {
		return err
	}
	if diag != nil && c.Policy.Layer == A {
		fd, err := unix.FcntlInt(diag.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("take a socket of the sandbox: %w", err)
		}
		k.diag = os.NewFile(uintptr(fd), "diag")
	}
	switch {
	case proxy != nil:
		if k.proxy, err = net.FileListener(proxy); err != nil {
			return fmt.Errorf("take the proxy's socket: %w", err)
		}
	case c.Policy.Network == Proxied && c.Policy.Layer == A, notify == nil && c.Policy.Layer == B:
		return errMessage
	case c.Policy.Network == Proxied && c.Policy.Layer == B:
		if k.proxy, err = listen(); err != nil {
			return err
		}
	}
	if notify != nil {
		return k.supervise(c, notify)
	}
	return nil
}

// supervise answers the calls of programs until the keeper has ended.
func (k *Keeper) supervise(c Config, notify *os.File) error {
	fd, err := unix.FcntlInt(notify.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("take the notifications of the sandbox: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stopping = stop
	if c.Policy.Layer == A { // only what changes other processes
		s := &seccomp.Supervisor{Root: k.inner.Pid, Namespace: true}
		k.serving.Go(func() { _ = s.Serve(ctx, fd) })
		return nil
	}
	if k.inside, err = unix.FcntlInt(notify.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		k.inside = -1
		unix.Close(fd)
		return fmt.Errorf("take the notifications of the sandbox: %w", err)
	}
	k.supervisor = &seccomp.Supervisor{Root: k.inner.Pid, Refused: func(_, address string) {
		if c.Refused != nil {
			c.Refused(address)
		}
	}}
	if k.proxy != nil {
		k.supervisor.Proxy = k.proxy.Addr().(*net.TCPAddr).AddrPort()
	}
	k.serving.Go(func() { _ = k.supervisor.Serve(ctx, fd) }) // what is not answered is refused
	return nil
}

// handedFile returns one of the files that came with the answer, or nil.
func handedFile(slot int64, files []*os.File) (*os.File, error) {
	switch {
	case slot < 0:
		return nil, nil
	case slot >= int64(len(files)):
		return nil, errMessage
	}
	return files[slot], nil
}

// listen makes a socket on loopback. Where two protocols share a port, as with
// multipath TCP, walls that know one of them do not hold.
func listen() (net.Listener, error) {
	var c net.ListenConfig
	c.SetMultipathTCP(false)
	l, err := c.Listen(context.Background(), "tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the proxy: %w", err)
	}
	return l, nil
}

// What every program may use beside what the policy names.
var (
	harmlessDevices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
	// The kernel itself keeps what is private to another process there.
	kernelFolders = []string{"/proc", "/sys/devices/system", "/sys/fs/cgroup"}
	// Of layer A, where these are new and hold nothing of the host.
	ownFolders = []string{"/tmp", "/var/tmp", "/dev/shm"}
	ownDevices = []string{"/dev/pts"}
)

// usedABI is the version of Landlock that the walls use: the kernel's, or an older one if
// a test asks for it.
func usedABI(older int) (int, error) {
	abi, err := landlock.ABI()
	if err == nil && older > 0 {
		abi = min(abi, older)
	}
	return abi, err
}

// restrict restricts the files of the calling thread by Landlock. self is this program,
// which is executed next.
func restrict(p Policy, self, abi int) (lacks []string, err error) {
	r := landlock.Rules{ABI: abi, Open: []int{self}, Devices: slices.Concat(harmlessDevices, p.Devices)}
	if p.Layer == A { // the root holds only what may be read
		r.Read = []string{"/"}
		r.Write = slices.Concat(p.Write, ownFolders, compact(p.Home))
		r.Devices = append(r.Devices, ownDevices...)
	} else {
		r.Read = slices.Concat(p.Read, kernelFolders)
		r.Write = slices.Concat(p.Write, compact(p.Temp, p.PrivateHome))
	}
	for _, row := range landlock.Lacks(abi) {
		lacks = append(lacks, row.Right+": "+row.Instead)
	}
	return lacks, landlock.Restrict(r)
}

// compact leaves out empty paths.
func compact(paths ...string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return p == "" })
}

// filter restricts the calls of this process by seccomp.
func filter(p Policy, abi int) (*os.File, error) {
	f := seccomp.Filter{Nested: p.Nested, NoTruncate: abi < 3}
	if p.Layer == A {
		f.Unix, f.Datagram, f.Others = true, true, true
	} else {
		f.Notify, f.NoAttributes = true, true
	}
	fd, err := f.Install()
	if p.Layer == A && errors.Is(err, unix.EBUSY) { // another sandbox around this one has a listener
		f.Others = false
		fd, err = f.Install()
	}
	if err != nil || fd < 0 {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "notify"), nil
}
