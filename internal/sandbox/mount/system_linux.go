package mount

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// proc mounts a /proc that shows the processes of this sandbox only.
func (b *builder) proc() error {
	tree, err := newFS("proc", harmless|unix.MOUNT_ATTR_NOEXEC)
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("mount /proc: parts of the host's are covered, as in a container: %w: %w", err, ErrUnavailable)
	}
	if err != nil {
		return unavailable("mount /proc", err)
	}
	defer unix.Close(tree)
	if err := b.place(tree, "proc", true); err != nil {
		return err
	}
	return b.coverProc(tree)
}

// coverProc keeps the parts of /proc that are about the machine from being written.
// Without a capability most refuse that anyway, but not all: the files belong to
// root, and root inside is the host's root. What only root may read is covered.
func (b *builder) coverProc(proc int) error {
	entries, err := list(proc)
	if err != nil {
		return fmt.Errorf("list /proc: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.Type()&os.ModeSymlink != 0 || strings.Trim(name, "0123456789") == "" {
			continue
		}
		if err := b.coverOne(proc, name); err != nil && !errors.Is(err, unix.ENOENT) {
			return fmt.Errorf("cover /proc/%s: %w", name, err)
		}
	}
	return nil
}

func (b *builder) coverOne(proc int, name string) error {
	target, err := open(proc, name)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	var s unix.Stat_t
	if err := unix.Fstat(target, &s); err != nil {
		return err
	}
	folder := s.Mode&unix.S_IFMT == unix.S_IFDIR
	var tree int
	switch {
	case folder || s.Mode&0o077 != 0 && s.Mode&0o222 != 0:
		tree, err = clone(target, harmless|readOnly)
	case s.Mode&0o077 == 0:
		tree, err = b.cover(false)
	default:
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return attach(tree, target)
}

// harmlessDevices are those that every program may use.
var harmlessDevices = [...]string{"null", "zero", "full", "random", "urandom", "tty"}

// dev mounts a /dev of its own, read-only: devices work on it all the same, but
// root inside, who is their owner on the host, cannot change their modes.
func (b *builder) dev() error {
	tree, err := newFS("tmpfs", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "size=64k", "nr_inodes=4k", "mode=755")
	if err != nil {
		return unavailable("mount /dev", err)
	}
	defer unix.Close(tree)
	if err := b.place(tree, "dev", true); err != nil {
		return err
	}
	for _, step := range []func(int) error{b.devices, b.terminals, b.memoryFiles, devLinks} {
		if err := step(tree); err != nil {
			return fmt.Errorf("fill /dev: %w", err)
		}
	}
	return unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: readOnly})
}

func (b *builder) devices(dev int) error {
	for _, name := range harmlessDevices {
		if err := b.device(name); err != nil && !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	for _, path := range b.root.Devices {
		name, ok := strings.CutPrefix(path, "/dev/")
		if !ok {
			b.report.Skipped = append(b.report.Skipped, Problem{path, "a device must be below /dev"})
			continue
		}
		err := b.device(name)
		if err != nil && !errors.Is(err, unix.ENOENT) {
			b.report.Skipped = append(b.report.Skipped, Problem{path, err.Error()})
		}
	}
	return nil
}

// device mounts one device of the host, or a folder of devices.
func (b *builder) device(name string) error {
	source, err := open(b.old, "/dev/"+name)
	if err != nil {
		return err
	}
	defer unix.Close(source)
	folder, err := isFolder(source)
	if err != nil {
		return err
	}
	tree, err := clone(source, readOnly|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	return b.place(tree, "dev/"+name, folder)
}

// terminals mounts a /dev/pts that holds no terminal of the host. The group of the
// terminals stays the process's own: no other is mapped.
func (b *builder) terminals(dev int) error {
	tree, err := newFS("devpts", unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC, "newinstance", "ptmxmode=0666", "mode=620")
	if err != nil {
		return unavailable("mount /dev/pts", err)
	}
	defer unix.Close(tree)
	return b.place(tree, "dev/pts", true)
}

func (b *builder) memoryFiles(dev int) error {
	tree, err := newFS("tmpfs", harmless, "mode=1777")
	if err != nil {
		return unavailable("mount /dev/shm", err)
	}
	defer unix.Close(tree)
	return b.place(tree, "dev/shm", true)
}

func devLinks(dev int) error {
	for _, link := range [...][2]string{
		{"ptmx", "pts/ptmx"}, {"fd", "/proc/self/fd"},
		{"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"}, {"stderr", "/proc/self/fd/2"},
	} {
		if err := unix.Symlinkat(link[1], dev, link[0]); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	return nil
}

// network turns loopback on: a new network namespace has it, but off.
func (b *builder) network() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return unavailable("turn loopback on", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, lo); err != nil {
		return unavailable("turn loopback on", err)
	}
	lo.SetUint16(lo.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return unavailable("turn loopback on", err)
	}
	return nil
}

func (b *builder) hostname() error {
	if b.root.Hostname == "" {
		return nil
	}
	if err := unix.Sethostname([]byte(b.root.Hostname)); err != nil {
		return unavailable("set the host name", err)
	}
	return nil
}
