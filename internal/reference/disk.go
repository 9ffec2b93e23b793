package reference

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"hermes/internal/atomicfile"
)

// Limits of what is looked at in a folder.
const (
	maxListed = 200    // entries that are attached
	maxNames  = 10_000 // entries among which a name is looked for
)

// disk is where the files are that a message points at. Its paths are absolute.
type disk interface {
	// absolute returns the path that a reference means.
	absolute(path string) string
	// look reports what a path leads to; "" is neither a file nor a folder.
	look(ctx context.Context, path string) Kind
	// real follows all links of a path.
	real(ctx context.Context, path string) (string, error)
	// below reports whether a path is a folder or in it.
	below(folder, path string) bool
	// stat describes a path; a link may be described itself.
	stat(ctx context.Context, path string) (fs.FileInfo, error)
	// open opens a path without links, and list lists a folder.
	open(ctx context.Context, real string) (io.ReadCloser, fs.FileInfo, error)
	list(ctx context.Context, real string) ([]fs.DirEntry, error)
}

// disk returns where the files are.
func (s Sources) disk() disk {
	if s.Files != nil {
		return there{s.Files, s.Dir}
	}
	return here{s.Dir, s.Rules.Home}
}

// here is the disk of this machine.
type here struct{ dir, home string }

func (h here) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && h.home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = h.home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.dir, path)
	}
	return path
}

func (here) look(_ context.Context, path string) Kind {
	st, err := os.Stat(path)
	switch {
	case err != nil || !sameCase(path):
		return ""
	case st.IsDir():
		return Folder
	}
	return File
}

func (here) real(_ context.Context, path string) (string, error) { return filepath.EvalSymlinks(path) }

func (here) below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (here) stat(_ context.Context, path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (here) open(_ context.Context, real string) (io.ReadCloser, fs.FileInfo, error) {
	f, err := atomicfile.OpenPath(real)
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

func (here) list(_ context.Context, real string) ([]fs.DirEntry, error) {
	opened, err := atomicfile.OpenFolder(real, false)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return fs.ReadDir(opened.FS(), ".")
}

// lookIn returns what finds out what a word of a message leads to, if it is a path. On
// another machine each look takes a moment, so only the first words are looked for.
func (s Sources) lookIn(ctx context.Context) func(path string) Kind {
	d, left := s.disk(), -1
	if s.Files != nil {
		left = maxLooks
	}
	return func(path string) Kind {
		if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") || left == 0 {
			return "" // Windows would log in to the machine that it names
		}
		left--
		return d.look(ctx, d.absolute(path))
	}
}

// maxLooks bounds the words of a message that are looked for on another machine.
const maxLooks = 20

// sameCase reports whether a folder has an entry with exactly the path's name.
// Where the disk does not tell case apart, @Test would be the folder test.
func sameCase(path string) bool {
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return true
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxNames)
	if err != nil || slices.Contains(names, filepath.Base(path)) {
		return true
	}
	return !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, filepath.Base(path)) })
}

var errOutsideFolder = errors.New("it is outside the working folder and is not attached")

// resolve resolves a path, links included. It refuses files outside the working
// folder and files that may contain secrets.
func (s Sources) resolve(ctx context.Context, path string) (string, error) {
	d := s.disk()
	path = d.absolute(path)
	real, err := d.real(ctx, path)
	if errors.Is(err, os.ErrNotExist) {
		return "", errors.New("there is no such file")
	} else if err != nil {
		return "", err
	}
	root, err := d.real(ctx, d.absolute("."))
	if err != nil {
		return "", err
	}
	if !d.below(root, real) {
		return "", errOutsideFolder
	}
	if v := s.Rules.Read(path, real); !v.Allowed() {
		return "", errors.New("it may contain secrets and is not attached")
	}
	return real, nil
}

// folder lists the content of a folder, at most maxListed entries.
func (s Sources) folder(ctx context.Context, path string) (string, error) {
	real, err := s.resolve(ctx, path)
	if err != nil {
		return "", err
	}
	entries, err := s.disk().list(ctx, real)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more\n", len(entries)-maxListed)
			break
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		b.WriteString(name + "\n")
	}
	return b.String(), nil
}
