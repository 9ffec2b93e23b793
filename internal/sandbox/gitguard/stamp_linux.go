package gitguard

import (
	"io/fs"
	"syscall"
	"time"
)

func identity(info fs.FileInfo) stamp {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	// The time of change, which no program can set, rather than that of modification.
	return stamp{device: uint64(st.Dev), inode: st.Ino, names: uint64(st.Nlink), changed: time.Unix(int64(st.Ctim.Sec), int64(st.Ctim.Nsec))}
}
