//go:build linux || darwin

package file

import (
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// accessList is the attribute that holds the access list of a file on Linux.
const accessList = "system.posix_acl_access"

// mostNoted bounds the attributes of a file, in bytes.
const mostNoted = 1 << 20

// attributes returns the attributes of a file that are to stay if another file takes its place: none if its
// files are not on this machine.
func (p location) attributes() []attribute {
	f := p.openSame(p.real, p.info)
	if f == nil {
		return nil
	}
	defer f.Close()
	names := read(func(to []byte) (int, error) { return unix.Flistxattr(int(f.Fd()), to) })
	var out []attribute
	size := 0
	for name := range strings.SplitSeq(string(names), "\x00") {
		if !belongsToFile(name) || size > mostNoted {
			continue
		}
		value := read(func(to []byte) (int, error) { return unix.Fgetxattr(int(f.Fd()), name, to) })
		size += len(value)
		out = append(out, attribute{name, value})
	}
	return out
}

// keep gives the attributes to the file that is at path now, whose state info is, and returns the names of
// those that it did not get. old is the file that had them: an access list is for its owner and group.
func (p location) keep(path string, list []attribute, old, info fs.FileInfo) (lost []string) {
	if len(list) == 0 {
		return nil
	}
	f := p.openSame(path, info)
	if f != nil {
		defer f.Close()
	}
	for _, a := range list {
		if f == nil || a.name == accessList && !sameOwner(old, info) || unix.Fsetxattr(int(f.Fd()), a.name, a.value, 0) != nil {
			lost = append(lost, a.name)
		}
	}
	slices.Sort(lost)
	return lost
}

// openSame opens a file, if it is still the one that info describes.
func (p location) openSame(path string, info fs.FileInfo) *os.File {
	if !p.here || info == nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		f.Close()
		return nil
	}
	return f
}

// read asks how much there is, and then for that.
func read(from func([]byte) (int, error)) []byte {
	n, err := from(nil)
	if err != nil || n <= 0 || n > mostNoted {
		return nil
	}
	data := make([]byte, n)
	if n, err = from(data); err != nil || n < 0 {
		return nil
	}
	return data[:n]
}

func sameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, both := b.Sys().(*syscall.Stat_t)
	return ok && both && x.Uid == y.Uid && x.Gid == y.Gid
}
