package gitguard

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// All that is opened below a workspace is opened by these: a program can put a pipe in
// the place of anything at any time, and opening one waits for its other end.

// OpenFolder opens a folder. It follows no link in the last name, and waits for nothing.
func OpenFolder(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|folderOnly|waitless, 0)
	return checked(f, err, fs.FileMode.IsDir)
}

// OpenFile opens a regular file. It follows no link in the last name, and waits for
// nothing.
func OpenFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|waitless, 0)
	return checked(f, err, fs.FileMode.IsRegular)
}

// OpenFileIn is OpenFile below an open folder.
func OpenFileIn(r *os.Root, name string) (*os.File, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	f, err := r.OpenFile(name, os.O_RDONLY|waitless, 0)
	return checked(f, err, func(fs.FileMode) bool {
		now, err := f.Stat()
		return err == nil && now.Mode().IsRegular() && os.SameFile(info, now)
	})
}

// openFolder is OpenFolder below an open folder. Links on the way do not lead out.
func openFolder(r *os.Root, name string) (*os.File, error) {
	info, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := r.OpenFile(name, os.O_RDONLY|folderOnly|waitless, 0)
	return checked(f, err, fs.FileMode.IsDir)
}

func checked(f *os.File, err error, is func(fs.FileMode) bool) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !is(info.Mode()) {
		err = fmt.Errorf("open %s: %w", f.Name(), fs.ErrInvalid)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// readUpTo reads a file from its beginning. One that is no regular file, or has more than
// most bytes, is an error.
func readUpTo(f *os.File, most int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("read %s: %w", f.Name(), fs.ErrInvalid)
	}
	text := make([]byte, info.Size())
	n, err := io.ReadFull(f, text)
	return text[:n], err
}

// openRoot opens a folder that others are opened in. The dot refuses all else at once.
func openRoot(name string) (*os.Root, error) { return os.OpenRoot(name + "/.") }

// OpenRootIn opens a folder, below an open one, that others are opened in.
func OpenRootIn(r *os.Root, name string) (*os.Root, error) { return r.OpenRoot(name + "/.") }

// Open opens a folder that is read.
func (r reader) Open(name string) (*os.File, error) {
	return r.OpenFile(name, os.O_RDONLY|folderOnly|waitless, 0)
}

// OpenRoot opens a folder that others are opened in.
func (r reader) OpenRoot(name string) (*os.Root, error) { return OpenRootIn(r.Root, name) }
