//go:build unix

package terminal

import (
	"io/fs"
	"syscall"
)

// mayHaveNames reports whether a file may have more than one name.
func mayHaveNames(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || stat.Nlink > 1
}
