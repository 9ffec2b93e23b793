//go:build unix

package audit

import "syscall"

// nonBlock keeps an open from waiting for the other end of a named pipe, and from following
// a link.
const nonBlock = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
