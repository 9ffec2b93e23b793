package file

import (
	"errors"
	"syscall"
)

// quotaReached reports ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL or
// ERROR_DISK_QUOTA_EXCEEDED.
func quotaReached(err error) bool {
	return errors.Is(err, syscall.Errno(39)) || errors.Is(err, syscall.Errno(112)) || errors.Is(err, syscall.Errno(1295))
}
