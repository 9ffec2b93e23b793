//go:build unix

package environment

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// rename moves a file between two open folders. The paths are those of the file.
func rename(source, target *os.Root, from, to string) error {
	a, err := source.Open(".")
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := target.Open(".")
	if err != nil {
		return err
	}
	defer b.Close()
	if err := unix.Renameat(int(a.Fd()), filepath.Base(from), int(b.Fd()), filepath.Base(to)); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
