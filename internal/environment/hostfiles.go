package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"hermes"
	"hermes/internal/atomicfile"
)

// hostFiles are the files of this machine. Relative paths start at the working
// folder of the environment.
type hostFiles struct {
	local   *Local
	noLinks bool // what opens or changes a file follows no link
}

var (
	_ hermes.HostFiles     = hostFiles{}
	_ hermes.LinklessFiles = hostFiles{}
)

// NoLinks returns the same files, which open and change no file through a link.
func (h hostFiles) NoLinks() hermes.Files { return hostFiles{h.local, true} }

// OnHost returns true: tools may access the paths directly.
func (hostFiles) OnHost() bool { return true }

func (h hostFiles) Resolve(path string) (string, error) {
	if path == "" {
		return "", errors.New("the path is empty; name a file or folder")
	}
	path = expandHome(path, h.local.config.Home)
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.local.currentDir(), path)
	}
	return filepath.Clean(path), nil
}

func (h hostFiles) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	path, err := h.ready(ctx, path)
	if err != nil {
		return nil, err
	}
	if !h.noLinks {
		return os.Stat(path)
	}
	name := nameIn(path)
	folder, err := openFolder(path, false)
	if errors.Is(err, fs.ErrPermission) { // a home in a folder that may not be listed
		name = "."
		folder, err = atomicfile.OpenFolder(path, false)
		err = linkError(path, err)
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	info, err := folder.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, linkError(path, atomicfile.ErrLink)
	}
	return info, err
}

// nameIn is the name of a path in its folder. The root folder is in itself.
func nameIn(path string) string {
	if filepath.Dir(path) == path {
		return "."
	}
	return filepath.Base(path)
}

func (h hostFiles) RealPath(ctx context.Context, path string) (string, error) {
	path, err := h.ready(ctx, path)
	if err != nil {
		return "", err
	}
	return realPath(path, 0)
}

// realPath follows all links of a path. The last name may be missing, also as the
// target of a link.
func realPath(path string, depth int) (string, error) {
	const maxLinks = 40
	if depth > maxLinks {
		return "", fmt.Errorf("%s: too many levels of links", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if _, linked := os.Stat(path); err != nil && errors.Is(linked, syscall.ELOOP) {
		return "", errors.New("its links form a loop")
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if target, err := os.Readlink(path); err == nil {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return realPath(target, depth+1)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

func (h hostFiles) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	path, err := h.ready(ctx, path)
	if err != nil {
		return nil, err
	}
	if !h.noLinks {
		return os.Open(path)
	}
	folder, err := openFolder(path, false)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	f, err := atomicfile.OpenFile(folder, nameIn(path))
	if err != nil {
		return nil, linkError(path, err)
	}
	return f, nil
}

func (h hostFiles) Write(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	path, err := h.ready(ctx, path)
	if err != nil {
		return err
	}
	if !h.noLinks {
		if path, err = followed(path); err != nil {
			return err
		}
	}
	folder, err := openFolder(path, true)
	if err != nil {
		return err
	}
	defer folder.Close()
	name := filepath.Base(path)
	if err := mayChange(folder, name); err != nil {
		return err
	}
	o := atomicfile.Options{Mode: mode}
	if mode == 0 {
		o = atomicfile.Options{Mode: 0o666, Umask: true}
	}
	return linkError(path, atomicfile.WriteIn(folder, name, data, o))
}

// followed follows the links of a path whose last folders may be missing.
func followed(path string) (string, error) {
	real, err := realPath(path, 0)
	if err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return real, err
	}
	dir, err := followed(filepath.Dir(path))
	return filepath.Join(dir, filepath.Base(path)), err
}

// openFolder opens the folder of a path without following a link, and makes it if
// that is asked for.
func openFolder(path string, create bool) (*os.Root, error) {
	folder, err := atomicfile.OpenFolder(filepath.Dir(path), create)
	return folder, linkError(path, err)
}

// linkError reports a link as the error of the core.
func linkError(path string, err error) error {
	if errors.Is(err, atomicfile.ErrLink) {
		return &fs.PathError{Op: "change", Path: path, Err: hermes.ErrLink}
	}
	return err
}

// mayChange returns an error for a file that this process may not write.
// Replacing a file by a rename only needs write permission for its folder, and
// would ignore the file's own permissions.
func mayChange(folder *os.Root, name string) error {
	if info, err := folder.Lstat(name); err != nil || !info.Mode().IsRegular() {
		return nil // a new file, or one that the write itself refuses
	}
	f, err := folder.OpenFile(name, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err == nil {
		f.Close()
	}
	return nil
}

func (h hostFiles) List(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	dir, err := h.ready(ctx, dir)
	if err != nil {
		return nil, err
	}
	if !h.noLinks {
		return os.ReadDir(dir)
	}
	folder, err := atomicfile.OpenFolder(dir, false)
	if err != nil {
		return nil, linkError(dir, err)
	}
	defer folder.Close()
	return fs.ReadDir(folder.FS(), ".")
}

func (h hostFiles) Remove(ctx context.Context, path string) error {
	path, err := h.ready(ctx, path)
	if err != nil {
		return err
	}
	if !h.noLinks {
		return os.Remove(path)
	}
	folder, err := openFolder(path, false)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Remove(filepath.Base(path))
}

func (h hostFiles) Rename(ctx context.Context, from, to string) error {
	from, err := h.ready(ctx, from)
	if err != nil {
		return err
	}
	to, err = h.Resolve(to)
	if err != nil {
		return err
	}
	if !h.noLinks {
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		return os.Rename(from, to)
	}
	source, err := openFolder(from, false)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := openFolder(to, true)
	if err != nil {
		return err
	}
	defer target.Close()
	return rename(source, target, from, to)
}

// ready resolves a path unless ctx has ended.
func (h hostFiles) ready(ctx context.Context, path string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return h.Resolve(path)
}
