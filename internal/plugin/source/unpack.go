package source

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"hermes/internal/text"
)

const (
	maxFiles = 20_000
	maxBytes = 512 << 20 // of all files of a plugin
	// maxPasses is how many links may lead to one another before a file, at least.
	maxPasses = 40
)

// unpacking writes files below a folder, within limits.
type unpacking struct {
	root  *os.Root
	files int
	bytes int64
	links []link
}

// link is a symbolic link in a tar. Its place gets a copy of the file that it leads to.
type link struct{ name, to string }

// count counts one file or link. It returns an error also if ctx has ended.
func (u *unpacking) count(ctx context.Context) error {
	if u.files++; u.files > maxFiles {
		return fmt.Errorf("there are more than %d files", maxFiles)
	}
	return ctx.Err()
}

// file counts and writes one file. name has slashes.
func (u *unpacking) file(ctx context.Context, name string, executable bool, from io.Reader) error {
	if err := u.count(ctx); err != nil {
		return err
	}
	return u.write(name, executable, from)
}

func (u *unpacking) write(name string, executable bool, from io.Reader) error {
	name = path.Clean(name)
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return fmt.Errorf("the file %q is not below the plugin", text.Visible(name))
	}
	if err := u.root.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	f, err := u.root.OpenFile(local, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(from, maxBytes-u.bytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if u.bytes += n; u.bytes > maxBytes {
		return fmt.Errorf("the files are larger than %s together", text.Size(maxBytes))
	}
	return nil
}

// folder copies a folder. Links are followed if they stay in it.
func (u *unpacking) folder(ctx context.Context, source string) error {
	root, err := os.OpenRoot(source)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if base := path.Base(name); base == ".git" || base == "__pycache__" {
				return fs.SkipDir
			}
			return nil
		}
		info, err := root.Stat(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%q is no file", text.Visible(name))
		}
		f, err := root.Open(filepath.FromSlash(name))
		if err != nil {
			return err
		}
		defer f.Close()
		return u.file(ctx, name, info.Mode()&0o111 != 0, f)
	})
}

func (u *unpacking) zip(ctx context.Context, source string) error {
	z, err := zip.OpenReader(source)
	if err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	defer z.Close()
	for _, e := range z.File {
		mode := e.Mode()
		if mode.IsDir() {
			continue
		}
		if !mode.IsRegular() {
			return fmt.Errorf("%q is no file", text.Visible(e.Name))
		}
		f, err := e.Open()
		if err != nil {
			return fmt.Errorf("the archive is damaged: %w", err)
		}
		err = u.file(ctx, e.Name, mode&0o111 != 0, f)
		_ = f.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// tarFile reads a .tar.gz.
func (u *unpacking) tarFile(ctx context.Context, source string) error {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	return u.tar(ctx, z)
}

func (u *unpacking) tar(ctx context.Context, from io.Reader) error {
	t := tar.NewReader(from)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return u.copyLinks(ctx)
		case err != nil:
			return fmt.Errorf("the archive is damaged: %w", err)
		case n > 2*maxFiles:
			return fmt.Errorf("there are more than %d entries", 2*maxFiles)
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag == tar.TypeSymlink:
			if err := u.count(ctx); err != nil {
				return err
			}
			u.links = append(u.links, link{path.Clean(h.Name), h.Linkname})
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%q is no file", text.Visible(h.Name))
		}
		if err := u.file(ctx, h.Name, h.FileInfo().Mode()&0o111 != 0, t); err != nil {
			return err
		}
	}
}

// copyLinks copies the files that links lead to. One may lead to another, but not in a long chain: each
// pass looks at all that are left. A link to a folder, or out
// of the plugin, is an error.
func (u *unpacking) copyLinks(ctx context.Context) error {
	for pass := 0; len(u.links) > 0; pass++ {
		if pass == maxPasses {
			return fmt.Errorf("%q is a link to a link to a link, too often; let it lead to the file", text.Visible(u.links[0].name))
		}
		var later []link
		for _, l := range u.links {
			if err := ctx.Err(); err != nil {
				return err
			}
			done, err := u.copyLink(l)
			if err != nil {
				return err
			}
			if !done {
				later = append(later, l)
			}
		}
		if len(later) == len(u.links) {
			return fmt.Errorf("%q is a link that leads to no file of the plugin", text.Visible(later[0].name))
		}
		u.links = later
	}
	return nil
}

func (u *unpacking) copyLink(l link) (done bool, err error) {
	to := path.Join(path.Dir(l.name), l.to)
	if path.IsAbs(l.to) || !filepath.IsLocal(filepath.FromSlash(to)) {
		return false, fmt.Errorf("%q is a link to %q, which is not in the plugin", text.Visible(l.name), text.Visible(l.to))
	}
	f, err := u.root.Open(filepath.FromSlash(to))
	if err != nil {
		return false, nil // perhaps a link that is not copied yet
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() {
		return false, fmt.Errorf("%q is a link to a folder; a plugin holds its files themselves", text.Visible(l.name))
	}
	return true, u.write(l.name, info.Mode()&0o111 != 0, f)
}
