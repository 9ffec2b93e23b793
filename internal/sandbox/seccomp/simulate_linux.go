//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// Simulation makes the calling process's host look like a weaker one, for tests.
// It is installed in a test binary that was started once more, before the code
// under test runs. A filter can only answer with errors: an older ABI of Landlock
// is simulated by the field of that name in landlock.Rules, and a masked /proc and
// a refused uid_map, which are files, not at all.
type Simulation struct {
	// Docker forbids namespaces and mounts, as a container engine's default profile
	// does.
	Docker bool
	// Ubuntu lets namespaces be made and forbids their use, as Ubuntu 24.04 does: mount
	// and routing sockets answer EACCES. Writing uid_map is not seen.
	Ubuntu bool
	// Landlock is what its calls answer, if not zero: ENOSYS (an old kernel),
	// EOPNOTSUPP (not switched on) or EPERM (an old container engine).
	Landlock unix.Errno
	// NoListener refuses filters with a listener, as below another supervisor.
	NoListener bool
}

// Install puts the simulation on all threads for ever.
func (s Simulation) Install() error {
	_, err := install(s.program(), 0)
	return err
}

func (s Simulation) program() code {
	rules := load(offsetCall)
	if s.Landlock != 0 {
		calls := []uint32{unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF}
		rules = join(rules, eachOf(calls, refuse(s.Landlock)))
	}
	mounts := []uint32{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOUNT_SETATTR,
	}
	if s.Docker {
		rules = join(rules, eachOf(mounts, refuse(unix.EPERM)), ifEqual(unix.SYS_SETNS, refuse(unix.EPERM)),
			ifEqual(unix.SYS_CLONE3, refuse(unix.ENOSYS)), Filter{}.namespaces())
	}
	if s.Ubuntu {
		rules = join(rules, eachOf(mounts, refuse(unix.EACCES)),
			ifEqual(unix.SYS_SOCKET, join(argument(0), ifEqual(unix.AF_NETLINK, refuse(unix.EACCES)), allow())))
	}
	if s.NoListener {
		rules = join(rules, ifEqual(unix.SYS_SECCOMP, join(argument(1),
			ifAny(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, refuse(unix.EBUSY)), allow())))
	}
	return join(rules, allow())
}
