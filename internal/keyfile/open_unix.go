//go:build unix

package keyfile

import "syscall"

// nonblock keeps the opening of a pipe, which a file was replaced with, from waiting.
const nonblock = syscall.O_NONBLOCK
