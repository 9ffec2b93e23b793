package reference

import (
	"errors"
	"fmt"
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

// absolute returns the path that a reference means.
func (s Sources) absolute(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && s.Rules.Home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = s.Rules.Home + rest
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	return path
}

// look reports what a word of a message leads to, if it is a path.
func (s Sources) look(path string) Kind {
	if strings.HasPrefix(path, `\\`) || strings.HasPrefix(path, "//") {
		return "" // Windows would log in to the machine that it names
	}
	path = s.absolute(path)
	st, err := os.Stat(path)
	switch {
	case err != nil || !sameCase(path):
		return ""
	case st.IsDir():
		return Folder
	}
	return File
}

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
func (s Sources) resolve(path string) (string, error) {
	path = s.absolute(path)
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", errors.New("there is no such file")
	} else if err != nil {
		return "", err
	}
	root, err := filepath.EvalSymlinks(s.Dir)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, real); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", errOutsideFolder
	}
	if v := s.Rules.Read(path, real); !v.Allowed() {
		return "", errors.New("it may contain secrets and is not attached")
	}
	return real, nil
}

// folder lists the content of a folder, at most maxListed entries.
func (s Sources) folder(path string) (string, error) {
	real, err := s.resolve(path)
	if err != nil {
		return "", err
	}
	opened, err := atomicfile.OpenFolder(real, false)
	if err != nil {
		return "", err
	}
	defer opened.Close()
	entries, err := fs.ReadDir(opened.FS(), ".")
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
