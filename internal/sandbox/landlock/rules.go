package landlock

import "errors"

// ErrUnsupported is why there is no Landlock: the kernel lacks it, it was not
// switched on at boot, or something around this process forbids its use.
var ErrUnsupported = errors.New("Landlock cannot be used")

// Rules say what a process may still do. Everything that they do not grant is
// refused. Paths are absolute with their links followed; one that does not exist
// or cannot be reached is skipped, one that leads through a link is an error, so
// that a link that was put in its place between planning and building grants
// nothing.
type Rules struct {
	// Read are files and folders, with all that is below, that may be read and
	// executed. Write may be changed as well, except that no device node can be made.
	Read, Write []string
	// Devices are device files, or folders of them, that may be read, written and
	// sent commands (ioctl).
	Devices []string
	// Open are open files that may be read and executed, under whatever name.
	Open []int
	// NoTCP refuses TCP's bind and connect from ABI 4 on. It does not see listen
	// without bind, MSG_FASTOPEN or MPTCP: package seccomp refuses those.
	NoTCP bool
	// ABI makes the rules those of an older kernel, for tests. Zero, and what is above
	// the kernel's own, means the kernel's.
	ABI int
}
