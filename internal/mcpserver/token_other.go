//go:build !unix

package mcpserver

import "io/fs"

// private is the matter of the folder here: modes say nothing of who can read a file.
func private(fs.FileInfo) bool { return true }
