//go:build !windows

package file

import (
	"errors"
	"io/fs"
	"syscall"
)

func quotaReached(err error) bool { return errors.Is(err, syscall.EDQUOT) }

// crossDevice reports that a file cannot be renamed because the new name is on
// another disk.
func crossDevice(err error) bool { return errors.Is(err, syscall.EXDEV) }

// hardLinks returns the number of names that a file has, 0 if that is unknown.
func hardLinks(info fs.FileInfo) int {
	if info == nil {
		return 0
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 0
}
