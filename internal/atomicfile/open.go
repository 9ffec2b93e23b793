package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFile opens the file with a name in an open folder for reading. It follows no
// link: one in place of the file, also one that gets there meanwhile, is ErrLink. It
// does not wait for the writer of a pipe. The caller closes the file.
func OpenFile(folder *os.Root, name string) (*os.File, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrLink
	}
	f, err := folder.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, err
	}
	// The name may have become a link between.
	if now, err := f.Stat(); err != nil || !os.SameFile(before, now) {
		f.Close()
		return nil, ErrLink
	}
	return f, nil
}

// OpenSub opens the folder with a name in an open folder, without following a link,
// as OpenFile does.
func OpenSub(folder *os.Root, name string) (*os.Root, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, err
	}
	if before.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrLink
	}
	sub, err := folder.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := sub.Stat("."); err != nil || !os.SameFile(before, now) {
		sub.Close()
		return nil, ErrLink
	}
	return sub, nil
}

// OpenPath opens the file at an absolute path for reading, as OpenFolder and OpenFile
// do: a part of the path that is a link is ErrLink.
func OpenPath(path string) (*os.File, error) {
	folder, err := OpenFolder(filepath.Dir(path), false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := OpenFile(folder, filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, plain(err))
	}
	return f, nil
}
