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
type hostFiles struct{ local *Local }

var _ hermes.HostFiles = hostFiles{}

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
	return os.Stat(path)
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
	return os.Open(path)
}

func (h hostFiles) Write(ctx context.Context, path string, data []byte, mode fs.FileMode) error {
	path, err := h.ready(ctx, path)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := mayChange(path); err != nil {
		return err
	}
	return atomicfile.Write(path, data, atomicfile.Options{Mode: mode, Follow: true})
}

// mayChange returns an error for a file that this process may not write.
// Replacing a file by a rename only needs write permission for its folder, and
// would ignore the file's own permissions.
func mayChange(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // a new file, or one that the write itself refuses
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
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
	return os.ReadDir(dir)
}

func (h hostFiles) Remove(ctx context.Context, path string) error {
	path, err := h.ready(ctx, path)
	if err != nil {
		return err
	}
	return os.Remove(path)
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
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// ready resolves a path unless ctx has ended.
func (h hostFiles) ready(ctx context.Context, path string) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return h.Resolve(path)
}
