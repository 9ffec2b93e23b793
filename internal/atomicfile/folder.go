package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenFolder opens the folder at an absolute path without following any link: a
// part of the path that is a link, or becomes one while it is opened, is ErrLink.
// With create it makes the folders that are missing. What is done with the result
// stays in that folder, wherever its path leads later. The caller closes it.
func OpenFolder(path string, create bool) (*os.Root, error) {
	path = filepath.Clean(path)
	top := filepath.VolumeName(path) + string(filepath.Separator)
	if !filepath.IsAbs(path) || !strings.HasPrefix(path, top) {
		return nil, fmt.Errorf("open folder %s: it is not an absolute path", path)
	}
	w := walk{at: top, create: create}
	defer w.close()
	err := w.enter("")
	for _, name := range strings.Split(path[len(top):], string(filepath.Separator)) {
		if err == nil && name != "" {
			err = w.enter(name)
		}
	}
	if err == nil && w.folder == nil {
		err = fs.ErrPermission
	}
	if err != nil {
		return nil, fmt.Errorf("open folder %s: %w", path, plain(err))
	}
	folder := w.folder
	w.folder = nil
	return folder, nil
}

// walk is on its way to a folder, one name at a time.
type walk struct {
	at     string   // the path so far
	folder *os.Root // open at that path, nil if it may not be read
	create bool
}

func (w *walk) close() {
	if w.folder != nil {
		w.folder.Close()
	}
}

// enter goes to the folder with a name in the current one.
func (w *walk) enter(name string) error {
	path := filepath.Join(w.at, name)
	info, err := w.look(path, name)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return ErrLink
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", path)
	}
	return w.arrive(path, name, info)
}

// arrive opens a folder and compares it with what its name meant before, since that
// may have become a link between.
func (w *walk) arrive(path, name string, info fs.FileInfo) error {
	next, err := w.open(path, name)
	if errors.Is(err, fs.ErrPermission) && !ownFile(info) {
		// A folder of another user that may be passed but not read, such as /home
		// on some machines. This user cannot put a link in its place.
		w.close()
		w.at, w.folder = path, nil
		return nil
	}
	if err != nil {
		return err
	}
	w.close()
	w.at, w.folder = path, next
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		return errors.Join(err, ErrLink)
	}
	return nil
}

// look returns what a name means, and makes a folder of a missing one if that is
// asked for.
func (w *walk) look(path, name string) (fs.FileInfo, error) {
	lstat, mkdir := os.Lstat, os.Mkdir
	if w.folder != nil {
		path, lstat, mkdir = name, w.folder.Lstat, w.folder.Mkdir
	}
	info, err := lstat(path)
	if !w.create || !errors.Is(err, fs.ErrNotExist) {
		return info, err
	}
	if err := mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return lstat(path)
}

func (w *walk) open(path, name string) (*os.Root, error) {
	if w.folder == nil {
		return os.OpenRoot(path)
	}
	return w.folder.OpenRoot(name)
}
