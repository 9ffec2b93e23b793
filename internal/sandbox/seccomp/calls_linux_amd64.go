package seccomp

import "golang.org/x/sys/unix"

// nativeArch is the only architecture whose calls are let through.
const nativeArch uint32 = unix.AUDIT_ARCH_X86_64

// foreign kills x32 programs: their calls have the same architecture and a bit in
// the number, and would pass a list of ordinary numbers. The number -1, which
// the kernel itself uses for "no call", is not one of them.
func foreign() code {
	const x32 = 0x40000000
	return join(ifEqual(0xffffffff, refuse(unix.ENOSYS)), ifAny(x32, kill()))
}

// archRefused are refused calls that only this architecture has.
func archRefused() []uint32 {
	return []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE,
		unix.SYS_GET_KERNEL_SYMS, unix.SYS_NFSSERVCTL, unix.SYS_USELIB, unix.SYS__SYSCTL,
	}
}

// archTruncation refuses opening with O_TRUNC in the calls that only this
// architecture has.
func archTruncation() code { return ifEqual(unix.SYS_OPEN, openTruncates(1)) }
