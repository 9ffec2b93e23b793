package guard

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Read reads the files of a skill's folder. It keeps links as links, leaves out
// hidden files, and stops when there are more files than a skill may have. Files
// that are too large are not read; their Data is longer than MaxFile.
func Read(folder string) ([]File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var out []File
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case len(out) > 2*MaxFiles:
			return fs.SkipAll
		}
		f, err := readOne(root, p, d)
		if err == nil {
			out = append(out, f)
		}
		return err
	})
	if main := "SKILL.md"; err == nil && len(out) > 2*MaxFiles && !slices.ContainsFunc(out, func(f File) bool { return f.Path == main }) {
		if info, err := root.Lstat(main); err == nil { // the folder must still be recognized as a skill
			f, err := readOne(root, main, fs.FileInfoToDirEntry(info))
			return append(out, f), err
		}
	}
	return out, err
}

func readOne(root *os.Root, p string, d fs.DirEntry) (File, error) {
	if d.Type()&fs.ModeSymlink != 0 {
		target, err := root.Readlink(filepath.FromSlash(p))
		return File{Path: p, Target: filepath.ToSlash(target)}, err
	}
	st, err := d.Info()
	if err != nil {
		return File{}, err
	}
	if !st.Mode().IsRegular() || st.Size() > MaxFile {
		return File{Path: p, Data: make([]byte, MaxFile+1)}, nil // the scan reports it as too large
	}
	data, err := root.ReadFile(filepath.FromSlash(p))
	return File{Path: p, Data: data}, err
}
