//go:build !linux

package gitguard

import (
	"io/fs"
	"os"
)

func chmodIn(dir *os.Root, name string, mode fs.FileMode) error { return dir.Chmod(name, mode) }

func chmod(path string, mode fs.FileMode) error { return os.Chmod(path, mode) }

func own(fs.FileInfo) bool { return true }
