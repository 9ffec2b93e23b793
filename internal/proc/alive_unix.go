//go:build unix

package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Alive reports whether a process with this id exists, whoever owns it.
func Alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
