//go:build !linux

package written

import (
	"io/fs"
	"time"
)

// changed is when a file was last changed, as the file itself says.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }

// number is 0: these systems are not asked for the inode of a file.
func number(fs.FileInfo) uint64 { return 0 }
