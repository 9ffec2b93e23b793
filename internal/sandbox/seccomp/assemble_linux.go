//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

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
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: uint8(len(then))}}, then...)
}

// unlessEqual runs then if what was loaded is not k.
func unlessEqual(k uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: uint8(len(then))}}, then...)
}

// ifAny runs then if what was loaded has any of the bits.
func ifAny(bits uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: bits, Jf: uint8(len(then))}}, then...)
}

// ifAbove runs then if what was loaded, unsigned, is above k.
func ifAbove(k uint32, then code) code {
	return append(code{{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: k, Jf: uint8(len(then))}}, then...)
}

// eachOf answers all these calls in the same way.
func eachOf(calls []uint32, then code) code {
	var all code
	for _, call := range calls {
		all = append(all, ifEqual(call, then)...)
	}
	return all
}
