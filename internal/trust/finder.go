// Package trust finds the settings that a project brings along, and keeps which
// versions of them the user trusts.
//
// Settings of a project may come from a stranger, so they widen nothing before the
// user has seen and trusted them: by the hash of their content, never by folder. What
// was hashed is in the [Project] and is used from there; nothing is read a second time.
// An error means that something is not known: what could be read may restrict, and
// nothing may allow.
//
// The package does not know what the settings mean to the program, or how the user is
// asked. Start at [Finder.Look]; [Store] keeps the decisions, [Question] describes a
// project to the user.
package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Finder finds the settings of projects. It may be used concurrently.
type Finder struct {
	// UserHome is the user's home folder. It is never a project, and neither is a
	// folder that it is in.
	UserHome string
	// Own is the root of Hermes' home, which is never a part of a project.
	Own string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// most folders between a folder and the top of its project
const maxDepth = 64

// Look finds the settings that hold in a folder: those of the folder and of every
// folder above it, up to the top of the outermost repository that it is in, or without
// one as far as a project may reach. A project never reaches the user's home, Hermes'
// home, the root folder, or a temporary folder that users share.
//
// With an error the project has what could be read; its Hash is empty, so that it can
// never be trusted.
func (f Finder) Look(dir string) (Project, error) {
	now := time.Now
	if f.Now != nil {
		now = f.Now
	}
	s := &Stamp{at: now(), asked: dir}
	real, err := realFolder(dir)
	if err != nil {
		s.unsure = true
		return Project{Root: dir, Dir: dir, Unread: []string{dir}, Stamp: s}, fmt.Errorf("find the project settings of %s: %w", dir, err)
	}
	s.real = real
	folders := f.folders(real, s)
	p := Project{Root: real, Dir: real, Stamp: s}
	if len(folders) > 0 {
		p.Root = folders[len(folders)-1]
	}
	c := &collector{finder: f, stamp: s}
	for i := len(folders) - 1; i >= 0; i-- { // from the top down
		before := len(c.files)
		c.folder(p.Root, folders[i])
		if len(c.files) > before {
			p.Dir = folders[i]
		}
	}
	p.Files = c.files
	if len(c.faults) > 0 {
		p.Unread = c.unread
		s.unsure = true
		return p, errors.Join(c.faults...)
	}
	if len(p.Files) == 0 {
		p.Dir = p.Root
	}
	p.Hash = hashOf(p.Files)
	return p, nil
}

func realFolder(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", errors.New("it is not an absolute path")
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", errors.Join(err, errors.New("it is not a folder"))
	}
	return real, nil
}

// folders are a folder and those above it that are of its project, from the bottom up.
// A repository inside another one does not hide the settings of the outer one.
func (f Finder) folders(dir string, s *Stamp) []string {
	var all []string
	top := -1 // the outermost repository
	for range maxDepth {
		if f.beyond(dir) {
			break
		}
		all = append(all, dir)
		if s.see(filepath.Join(dir, ".git"), ofPlace) {
			top = len(all) - 1
		}
		dir = filepath.Dir(dir)
	}
	if top >= 0 {
		return all[:top+1]
	}
	return all
}

// beyond reports whether a folder is outside of every project.
func (f Finder) beyond(dir string) bool {
	if dir == filepath.Dir(dir) || holds(dir, f.UserHome) || same(dir, f.Own) {
		return true
	}
	info, err := os.Stat(dir)
	return err != nil || info.Mode().Perm()&0o002 != 0 && info.Mode()&fs.ModeSticky != 0
}

// holds reports whether a folder is another one or is above it.
func holds(dir, other string) bool {
	if other == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(other); err == nil {
		other = real
	}
	rel, err := filepath.Rel(dir, other)
	return err == nil && filepath.IsLocal(rel)
}

func same(a, b string) bool {
	x, errA := os.Stat(a)
	y, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(x, y)
}
