package file

import (
	"errors"
	"io/fs"
	"syscall"
)

// quotaReached reports ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL or
// ERROR_DISK_QUOTA_EXCEEDED.
func quotaReached(err error) bool {
	return errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.Errno(112)) || errors.Is(err, syscall.Errno(1295))
}

// crossDevice reports ERROR_NOT_SAME_DEVICE.
func crossDevice(err error) bool { return errors.Is(err, syscall.Errno(17)) }

// hardLinks returns 0: the number of names is not part of what is known.
func hardLinks(fs.FileInfo) int { return 0 }
