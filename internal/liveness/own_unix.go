//go:build unix

package liveness

import (
	"io/fs"
	"os"
	"syscall"
)

// own reports whether a file belongs to the user of this process.
func own(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
