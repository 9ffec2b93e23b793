//go:build !unix

package search

import (
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"hermes/internal/atomicfile"
)

// handle is an open folder. What it opens and lists is in that folder, wherever the
// folder's path leads meanwhile, and it follows no link. It is closed by its last user.
type handle struct {
	root  *os.Root
	users atomic.Int32
}

// newHandle takes over the open folder of a path. It has one user.
func newHandle(root *os.Root, _ string) (*handle, error) {
	h := &handle{root: root}
	h.users.Store(1)
	return h, nil
}

func (h *handle) keep() { h.users.Add(1) }

func (h *handle) drop() {
	if h.users.Add(-1) == 0 {
		h.root.Close()
	}
}

func (h *handle) list() ([]fs.DirEntry, error) {
	f, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// sub opens the folder with a name in this one. The result has one user.
func (h *handle) sub(name, path string) (*handle, error) {
	root, err := atomicfile.OpenSub(h.root, name)
	if err != nil {
		return nil, err
	}
	return newHandle(root, path)
}

// modTime returns when a file of the folder, or a link, changed.
func (h *handle) modTime(name string) time.Time {
	info, err := h.root.Lstat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// open opens a regular file in the folder.
func (h *handle) open(name string) (io.ReadCloser, fs.FileInfo, error) {
	f, err := atomicfile.OpenFile(h.root, name)
	if err != nil {
		return nil, nil, err
	}
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
