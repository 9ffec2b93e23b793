//go:build !linux

package app

import (
	"io/fs"
	"time"
)

// changed is when a file was last changed, as the file itself says.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
