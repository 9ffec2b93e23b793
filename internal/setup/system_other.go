//go:build !linux && !darwin

package setup

import "io/fs"

// foreign is always false: Windows files inherit their rights from folders.
func foreign(fs.FileInfo) bool { return false }
