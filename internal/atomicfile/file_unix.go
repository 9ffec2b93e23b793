//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// locksWrites says that a temporary file is locked until it has its name.
const locksWrites = true

// lockWrite locks a temporary file as long as it is open, so that no other process takes it
// for a leftover. It does not wait.
func lockWrite(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = raw.Control(func(fd uintptr) { locked = syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB) })
	return errors.Join(err, locked)
}

// dontWait makes the opening of a pipe without a writer return at once.
const dontWait = syscall.O_NONBLOCK

func rename(folder *os.Root, from, to string) error { return folder.Rename(from, to) }

// SyncFolder makes the names in a folder durable: new, renamed and removed ones. File systems that cannot sync a
// folder say so with EINVAL or ENOTSUP; these are ignored.
func SyncFolder(folder *os.Root) error {
	f, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// keepOwner reports whether the new file has the owner and group of the old one.
func keepOwner(tmp *os.File, old fs.FileInfo) bool {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	info, err := tmp.Stat()
	if err != nil {
		return false
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	if ok && is.Uid == was.Uid && is.Gid == was.Gid {
		return true
	}
	return tmp.Chown(int(was.Uid), int(was.Gid)) == nil
}

// ownFile reports whether a file belongs to the user of this process.
func ownFile(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}
