package keyfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bounds of what a Finder looks at.
const (
	maxFiles   = 512  // that are read
	maxEntries = 5000 // of folders
)

// Finder looks for files with keys among the paths of one command: files, folders with all that is below, and
// patterns of a shell. It reads at most 512 files and lists 5,000 entries; what is beyond is not looked at. The
// zero value is ready to use, by one goroutine.
type Finder struct {
	known          map[string]string
	files, entries int
}

// Path says what a path seems to hold, as [File] does.
func (f *Finder) Path(path string) string {
	what, ok := f.known[path]
	if ok {
		return what
	}
	if strings.ContainsAny(path, "*?[") {
		matches, _ := filepath.Glob(path) // a pattern that is none is a name that does not exist
		for _, m := range matches[:min(len(matches), maxFiles)] {
			if what = f.one(m); what != "" {
				break
			}
		}
	} else {
		what = f.one(path)
	}
	if f.known == nil {
		f.known = map[string]string{}
	}
	f.known[path] = what
	return what
}

// one looks at a file, or at the files below a folder.
func (f *Finder) one(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return f.file(path)
	}
	found := ""
	_ = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error { // what cannot be read cannot be sent
		f.entries++
		switch {
		case err != nil && d != nil && d.IsDir():
			return fs.SkipDir
		case err != nil:
			return nil
		case f.entries > maxEntries || f.files > maxFiles:
			return fs.SkipAll
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		if what := f.file(p); what != "" {
			found = what + " (" + filepath.Base(p) + ")"
			return fs.SkipAll
		}
		return nil
	})
	return found
}

func (f *Finder) file(path string) string {
	if f.files++; f.files > maxFiles {
		return ""
	}
	return File(path)
}
