package gitguard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// opener opens the folders on the way to a change, without following a link. A program may
// have taken the user's rights in them away: it gives them back while they are open.
type opener struct {
	known map[string]state // what was there before
	at    string           // the path of the last one
	open  []*os.Root
	modes []mode
}

type mode struct {
	of *os.Root
	is fs.FileMode
}

// close closes the folders and gives them the modes that they had before the command. Of
// a folder that was not remembered only what stops the user from looking into it is not
// put back.
func (o *opener) close() {
	for _, m := range o.modes {
		if f, err := m.of.Open("."); err == nil {
			_ = f.Chmod(m.is) // it was the user's a moment ago
			f.Close()
		}
	}
	for _, dir := range o.open {
		dir.Close()
	}
}

// root opens the folder that a snapshot was taken of.
func (o *opener) root(path string) error {
	o.at = path
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if closed(info, 0o700) {
		_ = chmod(path, info.Mode()|0o700) // opening says what is wrong
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	o.add(dir, info)
	return nil
}

// add remembers an open folder, and the mode that it gets in the end.
func (o *opener) add(dir *os.Root, before fs.FileInfo) {
	o.open = append(o.open, dir)
	back := bits(before.Mode()) | 0o500
	if s, ok := o.known[o.at]; ok && s.mode.IsDir() {
		back = s.rights
	}
	if now, err := dir.Stat("."); err == nil && bits(now.Mode()) != back {
		o.modes = append(o.modes, mode{dir, back})
	}
}

func (o *opener) last() *os.Root { return o.open[len(o.open)-1] }

// parent opens the folder of a path, step by step. It makes missing ones, or returns nil if
// it need not: what was to be deleted is gone.
func (o *opener) parent(rel string, create bool) (*os.Root, error) {
	if rel == "." {
		return o.last(), nil
	}
	for name := range strings.SplitSeq(rel, "/") {
		if ok, err := o.step(name, create); err != nil || !ok {
			return nil, err
		}
	}
	return o.last(), nil
}

// step opens one folder. What took the place of one gets another name.
func (o *opener) step(name string, create bool) (bool, error) {
	dir := o.last()
	o.at = filepath.Join(o.at, name)
	info, err := dir.Lstat(name)
	if err == nil && !info.IsDir() {
		if _, ok := o.known[o.at]; ok { // it is, or will be, a change of its own
			if !create {
				return false, nil
			}
			return false, fmt.Errorf("%s is not a folder any more", name)
		}
		if _, err = aside(dir, name); err == nil {
			err = fs.ErrNotExist
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return false, nil
		}
		if err = dir.Mkdir(name, 0o755); err == nil {
			info, err = dir.Lstat(name)
		}
	}
	if err != nil {
		return false, err
	}
	next, err := enter(dir, name)
	if err != nil {
		return false, err
	}
	o.add(next, info)
	return true, nil
}

// enter opens a folder with all rights in it, and makes sure that it is not reached
// through a link.
func enter(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder any more", name)
	}
	if closed(info, 0o700) {
		_ = chmodIn(dir, name, info.Mode()|0o700) // opening says what is wrong
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, errSwapped
	}
	return next, nil
}

// closed reports whether the user lacks rights.
func closed(info fs.FileInfo, rights fs.FileMode) bool { return info.Mode()&rights != rights }

// bits are what chmod sets.
func bits(m fs.FileMode) fs.FileMode {
	return m & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
}
