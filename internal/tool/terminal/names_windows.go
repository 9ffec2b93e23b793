package terminal

import "io/fs"

// mayHaveNames reports whether a file may have more than one name.
func mayHaveNames(fs.FileInfo) bool { return true }
