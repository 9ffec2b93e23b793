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
// Notify or Others it returns the descriptor to hand to a [Supervisor], otherwise -1. The
// caller closes its own copy before anything else runs: who holds it can let
// connections through.
func (f Filter) Install() (int, error) {
	var flags uintptr
	if f.asks() {
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

// code is a piece of a filter. Conditions skip forward over a piece, so pieces are
// put together without labels, and what is not answered falls through to the next
// piece. Only instructions that the kernel's cache of always allowed calls
// understands come before arguments are loaded, so that most calls cost nothing.
type code []unix.SockFilter

func join(pieces ...code) code {
	var all code
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all
}

// The offsets in struct seccomp_data.
const (
	offsetCall = 0
	offsetArch = 4
	offsetArgs = 16
)

func load(offset uint32) code {
	return code{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}}
}

// argument loads the low 32 bits of an argument. The kernel ignores the others
// where the argument is an int, so a caller may have set them to anything.
func argument(n uint32) code { return load(offsetArgs + 8*n) }

// masked keeps only some bits of what was loaded.
func masked(bits uint32) code {
	return code{{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: bits}}
}

func answer(action uint32) code {
	return code{{Code: unix.BPF_RET | unix.BPF_K, K: action}}
}

func allow() code { return answer(unix.SECCOMP_RET_ALLOW) }

func refuse(errno unix.Errno) code { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }

func kill() code { return answer(unix.SECCOMP_RET_KILL_PROCESS) }

// ifEqual runs then if what was loaded is k. A piece has less than 256
// instructions.
func ifEqual(k uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip(then)}}, then...)
}

// unlessEqual runs then if what was loaded is not k.
func unlessEqual(k uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: skip(then)}}, then...)
}

// ifAny runs then if what was loaded has any of the bits.
func ifAny(bits uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: bits, Jf: skip(then)}}, then...)
}

// ifAbove runs then if what was loaded, unsigned, is above k.
func ifAbove(k uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: k, Jf: skip(then)}}, then...)
}

// eachOf answers all these calls in the same way.
func eachOf(calls []uint32, then code) code {
	var all code
	for _, call := range calls {
		all = append(all, ifEqual(call, then)...)
	}
	return all
}

// skip is how far a condition jumps over a piece. The kernel counts it in a byte;
// the pieces are all written in this package, and a longer one is our mistake.
func skip(piece code) uint8 {
	if len(piece) > 255 {
		panic("a piece of a filter is too long for a jump: split it")
	}
	return uint8(len(piece))
}
