//go:build unix

package attack

import (
	"os"
	"syscall"
)

// ours reports whether a file belongs to the user.
func ours(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
