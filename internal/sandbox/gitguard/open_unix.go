//go:build unix

package gitguard

import "syscall"

const (
	// waitless opens a pipe without waiting for its other end, and no link.
	waitless = syscall.O_NONBLOCK | syscall.O_NOFOLLOW
	// folderOnly opens nothing but folders.
	folderOnly = syscall.O_DIRECTORY
)
