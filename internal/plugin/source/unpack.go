package plugin

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/text"
)

// Install copies a plugin from a folder, a .zip or a .tar.gz into the folder of plugins, whole or
// not at all. It starts nothing and enables nothing. One of the same name is only replaced if
// replace is set.
func Install(folder, source string, replace bool) (m Manifest, notes []string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return m, nil, err
	}
	staging, err := os.MkdirTemp(folder, ".new-")
	if err != nil {
		return m, nil, err
	}
	defer os.RemoveAll(staging)
	if err := unpack(source, staging); err != nil {
		return m, nil, fmt.Errorf("read the plugin from %s: %w", source, err)
	}
	from, err := rooted(staging)
	if err != nil {
		return m, nil, err
	}
	if m, notes, err = ReadManifest(from); err != nil {
		return m, notes, err
	}
	if _, err := Digest(from); err != nil {
		return m, notes, err
	}
	to := filepath.Join(folder, m.Name)
	old := staging + ".old"
	switch err := os.Rename(to, old); {
	case err == nil && !replace:
		return m, notes, errors.Join(fmt.Errorf("there is a plugin %s already; use --replace", m.Name), os.Rename(old, to))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return m, notes, err
	}
	if err := os.Rename(from, to); err != nil {
		if back := os.Rename(old, to); back != nil && !errors.Is(back, fs.ErrNotExist) {
			err = errors.Join(err, back)
		}
		return m, notes, err
	}
	return m, notes, os.RemoveAll(old)
}

// rooted returns the folder with the manifest: the one that was unpacked, or the only one in it.
func rooted(dir string) (string, error) {
	if _, err := os.Lstat(filepath.Join(dir, ManifestName)); err == nil {
		return dir, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	if len(entries) == 1 && entries[0].IsDir() {
		in := filepath.Join(dir, entries[0].Name())
		if _, err := os.Lstat(filepath.Join(in, ManifestName)); err == nil {
			return in, nil
		}
	}
	return "", fmt.Errorf("there is no %s in it, so it is no plugin", ManifestName)
}

// unpacking writes files below a folder, within limits.
type unpacking struct {
	root  *os.Root
	files int
	bytes int64
}

func unpack(source, to string) error {
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacking{root: root}
	info, err := os.Stat(source)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return u.folder(source)
	case strings.HasSuffix(source, ".zip"):
		return u.zip(source)
	case strings.HasSuffix(source, ".tar.gz"), strings.HasSuffix(source, ".tgz"):
		return u.tar(source)
	}
	return errors.New("it is neither a folder nor a .zip or .tar.gz")
}

// file writes one file. name has slashes.
func (u *unpacking) file(name string, executable bool, from io.Reader) error {
	name = path.Clean(name)
	if u.files++; u.files > maxFiles {
		return fmt.Errorf("there are more than %d files", maxFiles)
	}
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
func (u *unpacking) folder(source string) error {
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
		return u.file(name, info.Mode()&0o111 != 0, f)
	})
}

func (u *unpacking) zip(source string) error {
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
		err = u.file(e.Name, mode&0o111 != 0, f)
		_ = f.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) tar(source string) error {
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("the archive is damaged: %w", err)
	}
	t := tar.NewReader(z)
	for n := 0; ; n++ {
		h, err := t.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("the archive is damaged: %w", err)
		case n > 2*maxFiles:
			return fmt.Errorf("there are more than %d entries", 2*maxFiles)
		case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%q is no file", text.Visible(h.Name))
		}
		if err := u.file(h.Name, h.FileInfo().Mode()&0o111 != 0, t); err != nil {
			return err
		}
	}
}

// Uninstall removes the files of a plugin. Its pin is for [Pins.Remove].
func Uninstall(folder, name string) error {
	if !ValidName(name) {
		return fmt.Errorf("%q is not the name of a plugin", text.VisibleName(name))
	}
	gone, err := os.MkdirTemp(folder, ".old-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(gone)
	if err := os.Rename(filepath.Join(folder, name), filepath.Join(gone, name)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no plugin %s; `hermes plugins list` shows all", name)
		}
		return err
	}
	return os.RemoveAll(gone)
}

// Installed lists the names of the plugins in a folder, sorted.
func Installed(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && ValidName(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
