//go:build unix

package audit

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks an open file unless another one has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
		}
	}
}

func unlockFile(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// nonBlock keeps an open from waiting for the other end of a named pipe, and from following
// a link.
const nonBlock = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
