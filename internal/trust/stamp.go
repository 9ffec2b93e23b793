package trust

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
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
	id     identity
}

// detail says how much of a path must be the same.
type detail int

const (
	ofPlace   detail = iota // that it is there, and is the same file or folder
	ofContent               // also its size and times
)

// identity names one version of a file.
type identity struct {
	device, inode     uint64
	mode              fs.FileMode
	size              int64
	modified, changed int64 // in nanoseconds
}

// recent is how old a change must be to be told by its time from a later one. Some
// file systems keep whole seconds, FAT two.
const recent = 3 * time.Second

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
	id := identify(info)
	if d == ofContent && (!tellsChanges || s.at.UnixNano()-max(id.modified, id.changed) < int64(recent)) {
		s.unsure = true
	}
	s.seen = append(s.seen, sighting{path, d, true, id.only(d)})
	return true
}

// only drops what need not be the same.
func (id identity) only(d detail) identity {
	if d == ofPlace {
		return identity{device: id.device, inode: id.inode, mode: id.mode.Type()}
	}
	return id
}

// same reports whether an open file is the one that was seen last at a path.
func (s *Stamp) same(path string, info fs.FileInfo) bool {
	last := s.seen[len(s.seen)-1]
	return last.path == path && last.id == identify(info)
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
		if !was.there || identify(info).only(was.detail) != was.id {
			return false
		}
	}
	return true
}

// notFolder reports whether a part of a path is a file, so that nothing is below it.
func notFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
