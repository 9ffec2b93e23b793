//go:build linux || darwin

package setup

import (
	"io/fs"
	"os"
	"syscall"
)

// Free is the free space for the user on the disk of a folder, in bytes.
func Free(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// foreign reports whether a file belongs to another user.
func foreign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}
