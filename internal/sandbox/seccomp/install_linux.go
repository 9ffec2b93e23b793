//go:build amd64 || arm64

package seccomp

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Install puts the filter on all threads of this process for ever, and on every
// program that it starts, and gives up gaining privileges by executing a file. With
// Notify it returns the descriptor to hand to a [Supervisor], otherwise -1. The
// caller closes its own copy before anything else runs: who holds it can let
// connections through.
func (f Filter) Install() (int, error) {
	var flags uintptr
	if f.Notify && !f.NetOff {
		// A notified call that the supervisor took is interrupted by nothing but death.
		// Otherwise a signal repeats a connect that was already made.
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
	}
	fd, err := install(f.program(), flags)
	if errors.Is(err, unix.EINVAL) && flags != 0 { // before Linux 5.19
		fd, err = install(f.program(), unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	return fd, err
}

// install returns the listener, or -1 if the flags ask for none.
func install(program code, flags uintptr) (int, error) {
	runtime.LockOSThread() // no_new_privs is of one thread; the filter takes it along
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, fmt.Errorf("set no_new_privs: %w", err)
	}
	described := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	flags |= unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&described)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return -1, fmt.Errorf("%w: install a filter of %d instructions: %w", ErrUnsupported, len(program), errno)
	}
	if flags&unix.SECCOMP_FILTER_FLAG_NEW_LISTENER == 0 {
		return -1, nil
	}
	return int(fd), nil
}
