//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// lastCall is the highest call that was known when the lists were written. Newer
// ones answer as if the kernel had none, which programs are prepared for.
const lastCall = unix.SYS_RSEQ_SLICE_YIELD

// program assembles the filter.
func (f Filter) program() code {
	return join(
		load(offsetArch), unlessEqual(nativeArch, kill()),
		f.calls(),
	)
}

// calls answers by the number of the call.
func (f Filter) calls() code {
	return join(
		load(offsetCall),
		foreign(),
		ifAbove(lastCall, refuse(unix.ENOSYS)),
		eachOf(refused(), refuse(unix.EPERM)),
		eachOf(archRefused(), refuse(unix.EPERM)),
		// clone3 passes its flags behind a pointer. C libraries fall back to clone.
		ifEqual(unix.SYS_CLONE3, refuse(unix.ENOSYS)),
		wakings(),
		f.namespaces(),
		f.truncation(),
		ifEqual(unix.SYS_IOCTL, ioctl()),
		ifEqual(unix.SYS_PERSONALITY, personality()),
		ifEqual(unix.SYS_SECCOMP, nestedFilter()),
		f.others(),
		f.attributes(),
		f.network(),
		allow(),
	)
}

// refused are calls that no program inside needs. They reach into other
// processes, change the whole machine, or are large rarely used parts of the
// kernel in which holes are found.
func refused() []uint32 {
	return []uint32{
		// Other processes.
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
		unix.SYS_PIDFD_GETFD, unix.SYS_SETNS, unix.SYS_KCMP,
		unix.SYS_MQ_NOTIFY, // its signal is behind a pointer, see wakings
		// Calls that other calls are hidden in, or that hold the kernel up.
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_USERFAULTFD,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		// Files by number instead of by path, which Landlock cannot follow.
		unix.SYS_OPEN_BY_HANDLE_AT,
		// Mounts that no sandbox needs, see namespaces for the others.
		unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
		unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		// The machine.
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_INIT_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT,
		unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETHOSTNAME,
		unix.SYS_SETDOMAINNAME, unix.SYS_LOOKUP_DCOOKIE,
		// The clock. Whether adjtimex and clock_adjtime only read is said behind a pointer.
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_CLOCK_ADJTIME,
	}
}

// wakings refuses to ask the kernel for SIGCONT at a later time, which would wake a process
// that is stopped: by a change of a file, or by the end of a parent or a child. A timer's
// signal is behind a pointer.
func wakings() code {
	return join(
		ifEqual(unix.SYS_FCNTL, join(argument(1), ifEqual(unix.F_SETSIG, join(argument(2), ifEqual(uint32(unix.SIGCONT), refuse(unix.EPERM)))), allow())),
		ifEqual(unix.SYS_PRCTL, join(argument(0), ifEqual(unix.PR_SET_PDEATHSIG, join(argument(1), ifEqual(uint32(unix.SIGCONT), refuse(unix.EPERM)))), allow())),
		ifEqual(unix.SYS_CLONE, join(argument(0), masked(unix.CSIGNAL), ifEqual(uint32(unix.SIGCONT), refuse(unix.EPERM)), load(offsetCall))),
	)
}

// namespaces refuses new ones, and what only makes sense in them. In a new user
// namespace every user has all capabilities, and with them most of the kernel.
func (f Filter) namespaces() code {
	if f.Nested {
		return nil
	}
	const kinds = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	return join(
		eachOf([]uint32{unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT}, refuse(unix.EPERM)),
		// In clone the bit of CLONE_NEWTIME belongs to the signal at the end.
		ifEqual(unix.SYS_CLONE, join(argument(0), ifAny(kinds, refuse(unix.EPERM)), allow())),
		ifEqual(unix.SYS_UNSHARE, join(argument(0), ifAny(kinds|unix.CLONE_NEWTIME, refuse(unix.EPERM)), allow())),
	)
}

// attributes refuses what is kept beside the content of files, as if the file system had
// none: Landlock does not see it.
func (f Filter) attributes() code {
	if !f.NoAttributes {
		return nil
	}
	return eachOf([]uint32{
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
		unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_GETXATTRAT, unix.SYS_FILE_SETATTR,
	}, refuse(unix.EOPNOTSUPP))
}

// truncation refuses to cut a file that was not opened for writing.
func (f Filter) truncation() code {
	if !f.NoTruncate {
		return nil
	}
	return join(
		ifEqual(unix.SYS_TRUNCATE, refuse(unix.EACCES)),
		// openat2 has its flags behind a pointer. Programs fall back to openat.
		ifEqual(unix.SYS_OPENAT2, refuse(unix.ENOSYS)),
		ifEqual(unix.SYS_OPENAT, openTruncates(2)),
		archTruncation(),
	)
}

// openTruncates refuses O_TRUNC unless the file is opened for writing, which
// Landlock sees. The mode 3 truncates too and counts as neither.
func openTruncates(flags uint32) code {
	return join(
		argument(flags), masked(unix.O_TRUNC|unix.O_ACCMODE),
		ifEqual(unix.O_TRUNC|unix.O_RDONLY, refuse(unix.EACCES)),
		ifEqual(unix.O_TRUNC|unix.O_ACCMODE, refuse(unix.EACCES)),
		allow(),
	)
}

// ioctl refuses typing into a terminal, and pasting into the console.
func ioctl() code {
	return join(
		argument(1),
		ifEqual(unix.TIOCSTI, refuse(unix.EPERM)),
		ifEqual(unix.TIOCLINUX, refuse(unix.EPERM)),
		allow(),
	)
}

// personality allows asking, the ordinary one, 32-bit names of the machine, and
// switching off address randomisation, which debuggers do. Others make memory
// executable or bring back old behaviour.
func personality() code {
	const harmless = 0x8 | 0x20000 | 0x40000 // PER_LINUX32, UNAME26, ADDR_NO_RANDOMIZE
	return join(
		argument(0),
		ifEqual(0xffffffff, allow()),
		ifAny(^uint32(harmless), refuse(unix.EPERM)),
		allow(),
	)
}

// nestedFilter refuses a listener of the program's own: the newest one answers
// first, and could let through what this filter hands to its supervisor.
func nestedFilter() code {
	return join(
		argument(1),
		ifAny(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, refuse(unix.EPERM)),
		allow(),
	)
}
