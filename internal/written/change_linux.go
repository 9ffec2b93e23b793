package written

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when a file was last changed, which no program can set to another time.
func changed(info fs.FileInfo) time.Time {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(st.Ctim.Unix())
}

// number is the inode of a file, which a file that is put in its place does not have.
func number(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ino
}
