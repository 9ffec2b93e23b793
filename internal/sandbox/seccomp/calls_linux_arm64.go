package seccomp

import "golang.org/x/sys/unix"

// nativeArch is the only architecture whose calls are let through. 32-bit ARM is
// another one.
const nativeArch uint32 = unix.AUDIT_ARCH_AARCH64

// foreign has nothing to add: only amd64 has a second set of numbers.
func foreign() code { return ifEqual(0xffffffff, refuse(unix.ENOSYS)) }

// archRefused are refused calls that only this architecture has.
func archRefused() []uint32 { return []uint32{unix.SYS_NFSSERVCTL} }

// archTruncation has nothing to add: arm64 has no open but openat.
func archTruncation() code { return nil }
