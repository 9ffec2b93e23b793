//go:build unix

package keyfile

import "syscall"

// NonBlock is a flag for opening files: it keeps the opening of a pipe, which a file was replaced with, from waiting.
const NonBlock = syscall.O_NONBLOCK
