//go:build unix

package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// handle is an open folder. What it opens and lists is in that folder, wherever the
// folder's path leads meanwhile, and it follows no link. It is closed by its last user.
type handle struct {
	f     *os.File
	fd    int
	users atomic.Int32
}

// newHandle takes over the open folder of a path. It has one user.
func newHandle(root *os.Root, path string) (*handle, error) {
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return (&handle{fd: int(f.Fd())}).sub(".", path)
}

func (h *handle) keep() { h.users.Add(1) }

func (h *handle) drop() {
	if h.users.Add(-1) == 0 {
		h.f.Close()
	}
}

func (h *handle) list() ([]fs.DirEntry, error) { return h.f.ReadDir(-1) }

// sub opens the folder with a name in this one. The result has one user. Where a disk
// does not tell the kinds of its files, they are looked up by the path.
func (h *handle) sub(name, path string) (*handle, error) {
	fd, err := openAt(h.fd, name, unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	sub := &handle{f: os.NewFile(uintptr(fd), path), fd: fd}
	sub.users.Store(1)
	return sub, nil
}

// modTime returns when a file of the folder, or a link, changed.
func (h *handle) modTime(name string) time.Time {
	var st unix.Stat_t
	if unix.Fstatat(h.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return time.Time{}
	}
	return time.Unix(st.Mtim.Unix())
}

// open opens a regular file in the folder.
func (h *handle) open(name string) (io.ReadCloser, fs.FileInfo, error) {
	fd, err := openAt(h.fd, name, unix.O_NONBLOCK) // a pipe would wait for a writer
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func openAt(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}
