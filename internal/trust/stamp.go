package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"hermes/internal/filestamp"
)

// Stamp is what the file system said about the settings of a project when they were
// read. It is never changed after the look, so it may be used concurrently.
type Stamp struct {
	at          time.Time // before anything was looked at
	asked, real string    // the folder, and where its links lead
	seen        []sighting
	unsure      bool // something could not be read, or changed too lately
}

// sighting is one path as it was seen.
type sighting struct {
	path   string
	detail detail
	there  bool
	id     filestamp.Stamp // of the place only, unless the content counts
}

// detail says how much of a path must be the same.
type detail int

const (
	ofPlace   detail = iota // that it is there, and is the same file or folder
	ofContent               // also its size and times
)

// see records a path and reports whether something is there. What cannot be looked at
// counts as there.
func (s *Stamp) see(path string, d detail) bool {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || notFolder(err) {
		s.seen = append(s.seen, sighting{path: path, detail: d})
		return false
	}
	if err != nil {
		s.unsure = true
		return true
	}
	id := filestamp.Of(info)
	if d == ofContent && !id.Settled(s.at) {
		s.unsure = true
	}
	s.seen = append(s.seen, sighting{path, d, true, d.only(id)})
	return true
}

// only drops what need not be the same.
func (d detail) only(id filestamp.Stamp) filestamp.Stamp {
	if d == ofPlace {
		return id.Place()
	}
	return id
}

// same reports whether an open file is the one that was seen last at a path.
func (s *Stamp) same(path string, info fs.FileInfo) bool {
	last := s.seen[len(s.seen)-1]
	return last.path == path && last.id == filestamp.Of(info)
}

// Fresh reports whether the settings are certainly still as they were read. It costs a
// few system calls for each folder of the project. It is false for settings that had
// changed within 3 s before they were read, because a second change may look the same.
func (s *Stamp) Fresh() bool {
	if s == nil || s.unsure {
		return false
	}
	if real, err := filepath.EvalSymlinks(s.asked); err != nil || real != s.real {
		return false
	}
	for _, was := range s.seen {
		info, err := os.Lstat(was.path)
		if err != nil {
			if was.there || !errors.Is(err, fs.ErrNotExist) && !notFolder(err) {
				return false
			}
			continue
		}
		if !was.there || was.detail.only(filestamp.Of(info)) != was.id {
			return false
		}
	}
	return true
}

// ChangedSince reports whether a file or folder of the settings was changed, made or moved there at a time or after it.
// What is done in a repository changes its .git, which does not count.
func (s *Stamp) ChangedSince(t time.Time) bool {
	return slices.ContainsFunc(s.seen, func(was sighting) bool {
		if !was.there || filepath.Base(was.path) == ".git" {
			return false
		}
		info, err := os.Lstat(was.path)
		return err != nil || filestamp.Of(info).ChangedSince(t)
	})
}

// notFolder reports whether a part of a path is a file, so that nothing is below it.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
