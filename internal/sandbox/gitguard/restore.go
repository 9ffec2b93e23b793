package gitguard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"hermes/internal/atomicfile"
)

// ErrKeep is returned for what Restore does not undo: a new repository may hold work,
// and a large file was not kept. The user decides.
var ErrKeep = errors.New("not restored, look at it yourself")

// Restore puts back what was there before a change: it writes the old content, or
// deletes what was added. It works below the folder that the snapshot was taken of and
// follows no link, whatever is there by now. Call it while no program of the session
// runs, in the order of Compare.
func Restore(c Change) error {
	if err := restore(c); err != nil {
		return fmt.Errorf("restore %s: %w", c.Path, err)
	}
	return nil
}

// KeepHarmless undoes the dangerous settings of a change to a configuration file, and
// leaves the others. It returns what it undid. A change that is not of a file's whole
// content, such as a link in its place, is restored altogether; see Restore.
func KeepHarmless(c Change) ([]Key, error) {
	text, undone := Keep(c.Old, c.New)
	if c.Event == Removed || !c.is.mode.IsRegular() || !c.is.whole || c.is.hidden {
		_, undone = c.Judge()
		return undone, Restore(c)
	}
	kept := c
	kept.Event, kept.was = Changed, c.is
	kept.was.content = text
	return undone, Restore(kept)
}

func restore(c Change) error {
	s := c.was
	if c.Event == Added {
		s = c.is
	}
	if c.unknown || c.Class == Unseen || c.Event == NewRepository || c.Event != Added && s.mode.IsRegular() && (!s.whole || s.unread) {
		return ErrKeep
	}
	root, err := os.OpenRoot(cmpRoot(c))
	if err != nil {
		return err
	}
	defer root.Close()
	dir, err := parent(root, path.Dir(s.rel), c.Event != Added)
	if err != nil || dir == nil {
		return err
	}
	defer dir.Close()
	name := path.Base(s.rel)
	switch {
	case c.Event == Added:
		return dir.RemoveAll(name)
	case s.mode.IsDir():
		return restoreFolder(root, dir, name, c)
	case s.mode&fs.ModeSymlink != 0:
		if err := clear(dir, name); err != nil {
			return err
		}
		return dir.Symlink(s.link, name)
	case s.mode.IsRegular():
		return restoreFile(dir, name, s)
	}
	return ErrKeep // a pipe or device that was there before
}

func cmpRoot(c Change) string {
	if c.was.root != "" {
		return c.was.root
	}
	return c.is.root
}

// parent opens the folder of a path, step by step, and makes missing ones. It returns
// nil if one is missing and need not be made: what was to be deleted is gone.
func parent(root *os.Root, rel string, create bool) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil || rel == "." {
		return at, err
	}
	for name := range strings.SplitSeq(rel, "/") {
		next, err := step(at, name, create)
		at.Close()
		if err != nil || next == nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// step opens one folder and makes sure that it is not reached through a link.
func step(at *os.Root, name string, create bool) (*os.Root, error) {
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if !create {
			return nil, nil
		}
		if err = at.Mkdir(name, 0o755); err == nil {
			info, err = at.Lstat(name)
		}
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder any more", name)
	}
	if mode := info.Mode().Perm(); mode&0o700 != 0o700 { // a program closed it
		_ = at.Chmod(name, mode|0o700) // opening says what is wrong
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, errSwapped
	}
	return next, nil
}

// clear deletes a link, pipe or file that took the place of something else. It does not
// delete a folder with what is in it: that may be work.
func clear(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return dir.Remove(name)
	}
	if err := dir.Remove(name); err == nil { // it was empty
		return nil
	}
	return aside(dir, name)
}

// aside gives a folder another name, under which nothing obeys it.
func aside(dir *os.Root, name string) error {
	for i := range 100 {
		to := fmt.Sprintf("%s.set-aside-%d", strings.TrimPrefix(name, "."), i)
		if _, err := dir.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return dir.Rename(name, to)
		}
	}
	return errors.New("a folder is in the way")
}

func restoreFile(dir *os.Root, name string, s state) error {
	// A file is replaced as a whole, so that a link or a pipe in its place is not
	// written to, nor a file that a program still has open.
	if err := clear(dir, name); err != nil {
		return err
	}
	if err := atomicfile.WriteIn(dir, name, s.content, atomicfile.Options{Mode: s.mode.Perm()}); err != nil {
		return err
	}
	return dir.Chmod(name, s.mode.Perm())
}

// restoreFolder brings a folder back that is gone, or deletes from a crowded one all
// that was not there.
func restoreFolder(root, dir *os.Root, name string, c Change) error {
	if info, err := dir.Lstat(name); err == nil && info.IsDir() {
		if !c.is.crowded || c.was.crowded {
			return nil
		}
		// What was in it follows as changes of its own.
		if err := aside(dir, name); err != nil {
			return err
		}
		return dir.Mkdir(name, info.Mode().Perm())
	}
	if err := clear(dir, name); err != nil {
		return err
	}
	if c.Class == GitFolder {
		return moveBack(dir, name, c.was)
	}
	return dir.Mkdir(name, 0o755)
}

// moveBack looks for a repository's folder that was moved within the folder that it was
// in. Without it there is nothing to restore the repository from.
func moveBack(dir *os.Root, name string, was state) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	list, _ := f.Readdirnames(maxEntries)
	slices.Sort(list)
	for _, other := range list {
		info, err := dir.Lstat(other)
		if err != nil || !info.IsDir() {
			continue
		}
		if is := identity(info); is.inode != 0 && is.inode == was.inode.inode && is.device == was.inode.device {
			return dir.Rename(other, name)
		}
	}
	return errors.New("the repository's own folder was deleted or moved: move it back by hand")
}
