//go:build linux || darwin

package home

import "syscall"

// Free is the free space for the user on the disk of a folder, in bytes.
func Free(folder string) (uint64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
