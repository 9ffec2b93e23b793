//go:build unix

package codeexecution

import (
	"fmt"
	"os"
	"syscall"
)

// socketPair returns the two ends of a channel: ours, and the one that a script inherits.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no program that starts meanwhile inherits them
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		err = syscall.SetNonblock(fds[0], true) // so that Close ends a read
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make a channel: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "channel"), os.NewFile(uintptr(fds[1]), "channel"), nil
}
