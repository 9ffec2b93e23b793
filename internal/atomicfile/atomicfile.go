// Package atomicfile replaces files atomically: a reader sees the old content or
// the new one, never a part, even after a crash. It also keeps two processes from
// changing the same file at once.
//
// Write writes a temporary file in the same folder, syncs it, renames it over the
// target and syncs the folder. Acquire (lock.go) takes a lock that ends with the
// process; if it times out, the error names the holder. The usual order is Acquire,
// read again, Write, Release.
//
// The package does not know what the files mean.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Options say how Write treats the target. The zero value makes new files
// readable by the owner only and refuses links.
type Options struct {
	// Mode is the mode of a new file; 0 is 0600. An existing file keeps its own.
	Mode fs.FileMode
	// Force gives an existing file Mode too.
	Force bool
	// Follow writes through a symbolic link to the file behind it, for files
	// that people keep elsewhere and link to. Without it a link is ErrLink.
	Follow bool
}

// ErrLink means that the target is a symbolic link and Options.Follow is off.
var ErrLink = errors.New("is a symbolic link; nothing was written")

// ErrKind means that the target is neither absent nor a regular file.
var ErrKind = errors.New("is not a regular file; nothing was written")

// Write replaces the content of the file at path with data, completely or not at
// all. The folder must exist. Write keeps the mode and, where permitted, the owner
// of an existing file. On an error the old content remains. Concurrent writers are
// safe: the last one wins.
func Write(path string, data []byte, o Options) error {
	if o.Mode == 0 {
		o.Mode = 0o600
	}
	target, old, err := resolve(path, o.Follow)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := replace(target, data, old, o); err != nil {
		return fmt.Errorf("write %s: %w", path, plain(err))
	}
	return nil
}

// resolve returns the file to replace and its current FileInfo, nil if it does not
// exist.
func resolve(path string, follow bool) (string, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return "", nil, plain(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if !follow {
			return "", nil, ErrLink
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", nil, fmt.Errorf("the link has no target: %w", plain(err))
		}
		if info, err = os.Lstat(path); err != nil {
			return "", nil, plain(err)
		}
	}
	if !info.Mode().IsRegular() {
		return "", nil, ErrKind
	}
	return path, info, nil
}

func replace(target string, data []byte, old fs.FileInfo, o Options) (err error) {
	folder := filepath.Dir(target)
	// CreateTemp opens with O_EXCL and mode 0600 under a random name, so no other
	// user can plant a link or read a secret before the mode is set.
	tmp, err := os.CreateTemp(folder, "."+filepath.Base(target)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return err
	}
	if err := adopt(tmp, old, o); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := rename(tmp.Name(), target); err != nil {
		return err
	}
	return syncFolder(folder)
}

// adopt copies the owner and the mode of the old file to the new one.
func adopt(tmp *os.File, old fs.FileInfo, o Options) error {
	mode := o.Mode
	if old != nil {
		kept := keepOwner(tmp, old)
		if !o.Force {
			mode = old.Mode().Perm()
			if !kept {
				mode &^= 0o070 // another group must not gain what the old one had
			}
		}
	}
	return tmp.Chmod(mode)
}

// plain drops the names of system calls and of the temporary file, which mean
// nothing to a user.
func plain(err error) error {
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		return onPath.Err
	}
	var onLink *os.LinkError
	if errors.As(err, &onLink) {
		return onLink.Err
	}
	return err
}
