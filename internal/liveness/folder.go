package liveness

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// LockName is the lock file in a temporary folder, for Ended.
const LockName = "owner.lock"

// maxNames limits how much of a folder Sweep reads.
const maxNames = 20_000

// Folder is a temporary folder that belongs to this process.
type Folder struct {
	Path string
	lock *Lock // nil where there are no locks
}

// TempFolder makes a new folder that only its owner can enter, like os.MkdirTemp. If the
// process is killed, Sweep of a later one removes it.
func TempFolder(parent, prefix string) (*Folder, error) {
	dir, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, err
	}
	lock, err := Hold(filepath.Join(dir, LockName))
	if err != nil {
		lock = nil // it works, and is not swept
	}
	return &Folder{Path: dir, lock: lock}, nil
}

// Remove removes the folder with its content.
func (f *Folder) Remove() error {
	var err error
	if f.lock != nil {
		err = f.lock.Release()
	}
	return errors.Join(err, os.RemoveAll(f.Path))
}

// Free frees the lock and keeps the folder, which is then that of a process that has ended.
func (f *Folder) Free() error {
	if f.lock == nil {
		return nil
	}
	return f.lock.Free()
}

// Sweep removes the folders that TempFolder made in parent with this prefix, if they belong
// to this user and their process has certainly ended, or if they are a day old and of an earlier
// start of this machine. It ignores what it cannot remove: the
// next one tries again. An empty parent is the folder of the system, as for TempFolder.
func Sweep(parent, prefix string) {
	if parent == "" {
		parent = os.TempDir()
	}
	f, err := os.Open(parent)
	if err != nil {
		return
	}
	defer f.Close()
	for read := 0; read < maxNames; {
		names, err := f.Readdirnames(1000)
		read += len(names)
		for _, name := range names {
			if dir := filepath.Join(parent, name); strings.HasPrefix(name, prefix) && abandoned(dir) {
				_ = os.RemoveAll(dir)
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || len(names) == 0 {
			return
		}
	}
}

// abandoned reports whether a folder is of this user and its process has ended.
func abandoned(dir string) bool {
	info, err := os.Lstat(dir) // not behind a link
	return err == nil && info.IsDir() && own(info) &&
		(Ended(filepath.Join(dir, LockName)) || endedBefore(filepath.Join(dir, LockName)))
}
