package credentialfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Most is how many files there may be.
const Most = 64

// Content is a file with what it holds.
type Content struct {
	File
	Data []byte
	// Real is the path of what was read, with links followed. Following Source again may lead elsewhere.
	Real string
}

// Set reads the files of one place. It is used by one goroutine at a time.
type Set struct {
	locator Locator
	files   []File
	seen    []fs.FileInfo // nil for a missing one
}

// NewSet returns the set of files that the user names, and of those that skills name. problems says which
// names are refused, and why.
func NewSet(l Locator, named, bySkills []string) (s *Set, problems []error) {
	s = &Set{locator: l}
	add := func(f File, err error) {
		known := func(o File) bool { return o.There == f.There }
		switch {
		case err != nil:
			problems = append(problems, err)
		case slices.ContainsFunc(s.files, known):
		case len(s.files) == Most:
			problems = append(problems, errors.New("more files are named than commands elsewhere can get: "+f.Name))
		default:
			s.files = append(s.files, f)
		}
	}
	for _, name := range named {
		add(l.Locate(name))
	}
	for _, name := range bySkills {
		add(l.LocateOwn(name))
	}
	s.seen = make([]fs.FileInfo, len(s.files))
	return s, problems
}

// Files returns where all files are.
func (s *Set) Files() []File { return slices.Clone(s.files) }

// Changed reads the files that have changed since the last call, or all of them. One that is missing
// or refused is among the problems, once for each change.
func (s *Set) Changed(all bool) (read []Content, problems []error) {
	for i, f := range s.files {
		now, err := os.Stat(f.Source)
		if err != nil {
			now = nil
		}
		if !all && unchanged(s.seen[i], now) {
			continue
		}
		s.seen[i] = now
		data, real, err := s.locator.read(f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			problems = append(problems, errors.New("the file "+f.Name+" is missing on this machine"))
		case err != nil:
			problems = append(problems, err)
		default:
			read = append(read, Content{f, data, real})
		}
	}
	return read, problems
}

// unchanged compares what is known of a file: one that was put in its place may have the same size and time.
func unchanged(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && a.Mode() == b.Mode()
}

// Sources lists the paths, with links followed, of the files that may be read now: those in the home of
// Hermes, or the others. It may be called concurrently.
func (s *Set) Sources(own bool) (list []string) {
	for _, f := range s.files {
		if _, real, err := s.locator.read(f); err == nil && s.locator.inHome(real) == own {
			list = append(list, real)
		}
	}
	return list
}

// inHome reports whether a path without links is in a home of Hermes.
func (l Locator) inHome(real string) bool {
	for _, home := range []string{l.Home, l.Rules.State} {
		home, err := filepath.EvalSymlinks(home)
		if err != nil || !filepath.IsAbs(home) {
			continue
		}
		if rel, err := filepath.Rel(home, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
