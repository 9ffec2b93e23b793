// Package atomicfile replaces files atomically: a reader sees the old content or
// the new one, never a part, even after a crash. It also keeps two processes from
// changing the same file at once.
//
// Write writes a temporary file in the same folder, syncs it, renames it over the
// target and syncs the folder, all through a handle of that folder. WriteIn does the
// same in a folder that OpenFolder (folder.go) has opened without following a link, so
// that the folder that was checked is the one that changes. Acquire (lock.go) takes a
// lock that ends with the process; if it times out, the error names the holder. The
// usual order is Acquire, read again, Write, Release.
//
// The package does not know what the files mean.
package atomicfile

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Options say how Write treats the target. The zero value makes new files
// readable by the owner only and refuses links.
type Options struct {
	// Mode is the mode of a new file; 0 is 0600. An existing file keeps its own.
	Mode fs.FileMode
	// Umask takes the umask, or the rules of the folder, off the mode of a new file.
	Umask bool
	// Force gives an existing file Mode too.
	Force bool
	// Follow writes through a symbolic link to the file behind it, for files
	// that people keep elsewhere and link to. Without it a link is ErrLink.
	Follow bool
	// Temp is the name of the temporary file, for a caller that removes what a crash left and
	// syncs the folder itself. One that is there is replaced. "" is a random name: then the
	// folder is synced, and leftovers of the same target are removed.
	Temp string
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
	target, old, err := resolve(path, o.Follow)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	folder, err := os.OpenRoot(filepath.Dir(target))
	if err != nil {
		return fmt.Errorf("write %s: %w", path, plain(err))
	}
	defer folder.Close()
	if err := replace(folder, filepath.Base(target), whole(data), old, o); err != nil {
		return fmt.Errorf("write %s: %w", path, plain(err))
	}
	return nil
}

// WriteIn is Write for a file in an open folder. It follows no link: one in place
// of the file is ErrLink, whatever o.Follow says.
func WriteIn(folder *os.Root, name string, data []byte, o Options) error {
	return CopyIn(folder, name, whole(data), o)
}

// whole writes data.
func whole(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// CopyIn is WriteIn for a content that write writes, so that a big one need not be in memory.
// If write fails the old content remains.
func CopyIn(folder *os.Root, name string, write func(io.Writer) error, o Options) error {
	old, err := folder.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return plain(err)
	case old.Mode()&fs.ModeSymlink != 0:
		return ErrLink
	case !old.Mode().IsRegular():
		return ErrKind
	}
	return plain(replace(folder, name, write, old, o))
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

func replace(folder *os.Root, name string, write func(io.Writer) error, old fs.FileInfo, o Options) (err error) {
	o.Mode = cmp.Or(o.Mode, 0o600)
	if o.Temp == "" {
		sweep(folder, "."+name+".")
	}
	tmp, err := temporary(folder, name, old, o)
	if err != nil {
		return err
	}
	_ = lockWrite(tmp) // without locks nothing takes it for a leftover either
	at := filepath.Base(tmp.Name())
	defer func() {
		if err != nil {
			tmp.Close()
			folder.Remove(at)
		}
	}()
	if err := write(tmp); err != nil {
		return err
	}
	if err := adopt(tmp, old, o); err != nil {
		return err
	}
	if err := tmp.Sync(); err != nil {
		return err
	}
	if locksWrites { // it keeps its lock until it has its name
		if err := rename(folder, at, name); err != nil {
			return err
		}
		_ = tmp.Close() // its content is on the disk
		return syncAfter(folder, o)
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := rename(folder, at, name); err != nil {
		return err
	}
	return syncAfter(folder, o)
}

func syncAfter(folder *os.Root, o Options) error {
	if o.Temp != "" {
		return nil
	}
	return SyncFolder(folder)
}

// temporary makes an empty file beside the target. One that obeys the umask gets its
// mode from the start, so that the system applies the umask and the folder's own
// rules. Others are for the owner only until they have their rights. The random name
// and O_EXCL keep other users from placing a link there.
func temporary(folder *os.Root, name string, old fs.FileInfo, o Options) (*os.File, error) {
	mode := fs.FileMode(0o600)
	if old == nil && o.Umask {
		mode = o.Mode
	}
	if o.Temp != "" {
		if err := folder.Remove(o.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return folder.OpenFile(o.Temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	}
	for tries := 0; ; tries++ {
		tmp, err := folder.OpenFile("."+name+"."+rand.Text()[:12]+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || tries == 100 {
			return tmp, err
		}
	}
}

// adopt copies the owner and the mode of the old file to the new one.
func adopt(tmp *os.File, old fs.FileInfo, o Options) error {
	mode := o.Mode
	if old == nil && o.Umask {
		return nil // it has its mode since it was made
	}
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
