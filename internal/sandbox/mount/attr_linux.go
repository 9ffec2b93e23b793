package mount

import (
	"errors"
	"fmt"
	"os"
	"syscall"

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

// Drop takes all capabilities from the calling thread, which the caller has
// locked, also from its bounding set. The caller executes a program next: that has one
// thread, which has none, and gets none from a set-user-id, a file with capabilities,
// or by being root.
func Drop() error {
	for capability := 0; ; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(capability), 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && capability > 0 {
			break // one more than the last that the kernel knows
		}
		if errors.Is(err, unix.EPERM) {
			break // an ordinary user has none, and no_new_privs keeps it so
		}
		if err != nil {
			return fmt.Errorf("drop capability %d from the bounding set: %w", capability, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
