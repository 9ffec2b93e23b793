//go:build !windows

package file

import (
	"errors"
	"syscall"
)

func quotaReached(err error) bool { return errors.Is(err, syscall.EDQUOT) }
