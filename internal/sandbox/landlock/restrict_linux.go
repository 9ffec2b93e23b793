package landlock

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ABI returns the version of Landlock that the kernel has. If it has none, or
// refuses its use, ABI returns 0 and why.
func ABI() (int, error) {
	abi, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		return int(abi), nil
	case unix.ENOSYS:
		return 0, fmt.Errorf("%w: this kernel has none (Linux 5.13 is the first)", ErrUnsupported)
	case unix.EOPNOTSUPP:
		return 0, fmt.Errorf("%w: it is not switched on; add landlock to lsm= on the kernel's command line", ErrUnsupported)
	case unix.EPERM:
		return 0, fmt.Errorf("%w: a filter around this process forbids it, as old container engines do", ErrUnsupported)
	}
	return 0, fmt.Errorf("%w: %w", ErrUnsupported, errno)
}

// Restrict restricts the calling thread, which the caller has locked, for ever, and
// gives up gaining privileges by executing a file (no_new_privs). The caller executes a
// program next: all threads of that are restricted, in one common domain, as is all
// that they start. After an error the thread may be restricted in part, and the
// process should end.
//
// To restrict each thread of a running process is not the same: below ABI 8 each gets
// a domain of its own, and from ABI 6 on, programs in different domains cannot signal
// each other.
func Restrict(r Rules) error {
	abi, err := ABI()
	if err != nil {
		return err
	}
	abi = min(abi, newest)
	if r.ABI > 0 {
		abi = min(abi, r.ABI)
	}
	fd, err := r.build(abi)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return enforce(fd)
}

// build makes a rule set and returns its descriptor, which the caller closes.
func (r Rules) build(abi int) (int, error) {
	set := handled(abi, r.NoTCP)
	size := unsafe.Sizeof(set)
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("create a Landlock rule set for ABI %d: %w", abi, errno)
	}
	for _, part := range []struct {
		paths  []string
		rights uint64
	}{{r.Read, readRights}, {r.Write, writeRights}, {r.Devices, deviceRights}} {
		for _, path := range part.paths {
			if err := grant(int(fd), path, part.rights&set.fs); err != nil {
				unix.Close(int(fd))
				return -1, fmt.Errorf("grant %s by Landlock: %w", path, err)
			}
		}
	}
	for _, open := range r.Open {
		if err := grantOpen(int(fd), open, readRights&set.fs); err != nil {
			unix.Close(int(fd))
			return -1, fmt.Errorf("grant an open file by Landlock: %w", err)
		}
	}
	return int(fd), nil
}

// grant adds a rule for what is at the path now. A later file of the same name
// is another one, unless a folder above it is granted.
func grant(set int, path string, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES):
		return nil
	case errors.Is(err, unix.ELOOP):
		return errors.New("it leads through a link; give the path that the link leads to")
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	return grantOpen(set, fd, rights)
}

// grantOpen adds a rule for what is open.
func grantOpen(set, fd int, rights uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	if rights == 0 {
		return nil // an old kernel has none of these: nothing is handled that would need a rule
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
