package sandbox

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// execAt executes the program that is open at fd, with an empty environment. It returns
// only if that fails.
func execAt(fd int, args []string) error {
	argv := make([]*byte, len(args)+1)
	for i, a := range args {
		p, err := unix.BytePtrFromString(a)
		if err != nil {
			return err
		}
		argv[i] = p
	}
	env := []*byte{nil}
	empty := []byte{0}
	_, _, errno := unix.Syscall6(unix.SYS_EXECVEAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0)
	runtime.KeepAlive(argv)
	runtime.KeepAlive(env)
	return errno
}
