package mount

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Attr starts a child in new namespaces of every kind, in which its user and group
// keep their numbers and no other exists. The child has what Build needs as ambient
// capabilities, in its own namespaces only. It is process 1 of its pid namespace:
// when it ends, all processes in it are killed.
func Attr() *syscall.SysProcAttr {
	own := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
			unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP,
		UidMappings: own(os.Geteuid()),
		GidMappings: own(os.Getegid()),
		// Only without setgroups may an ordinary user map a group.
		GidMappingsEnableSetgroups: false,
		// The last one is for Drop, which empties the bounding set.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP},
	}
}

// Drop takes all capabilities from every thread of the process, also from its
// bounding set: nothing that it starts has one, or gets one from a set-user-id or
// a file with capabilities, or by being root. It fails in a program that is linked
// with C code.
func Drop() error {
	for capability := 0; ; capability++ {
		err := onAllThreads(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, uintptr(capability), 0)
		if errors.Is(err, unix.EINVAL) && capability > 0 {
			break // one more than the last that the kernel knows
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", capability, err)
		}
	}
	err := onAllThreads(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0)
	if err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	return dropOwn()
}

// dropOwn empties the permitted, effective and inheritable sets.
func dropOwn() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	err := onAllThreads(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	runtime.KeepAlive(&header)
	runtime.KeepAlive(&none)
	if err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

// onAllThreads passes pointers as numbers, so what they point to must not move.
//
//go:uintptrescapes
func onAllThreads(trap, a, b, c uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(trap, a, b, c, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		return fmt.Errorf("this program is linked with C code, build it with CGO_ENABLED=0: %w", errno)
	}
	if errno != 0 {
		return errno
	}
	return nil
}
