package gitguard

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// ErrKeep is returned for what Restore does not undo: a new repository may hold work,
// and a large file was not kept. The user decides.
var ErrKeep = errors.New("not restored, look at it yourself")

// ErrUnknown is returned for what is only told: it is not known what was there before.
var ErrUnknown = fmt.Errorf("%w: it is not known what was there before", ErrKeep)

// ErrAsBefore is returned for a change that is none: what is there is what was there
// before. Nothing was done.
var ErrAsBefore = errors.New("it is as it was before")

// ErrGone is returned for a repository whose folder is neither there nor beside its place:
// there is nothing to restore it from, and nothing that git would obey.
var ErrGone = errors.New("the repository's own folder was deleted or moved: move it back by hand")

// errFailed is for what is not as it was, though nothing said that it failed.
var errFailed = errors.New("it is still not as it was")

// Restore puts back what was there before a change: it writes the old content, or
// deletes what was added, and looks whether it is so then. It works below the folder that
// the snapshot was taken of and follows no link, whatever is there by now. Folders that
// the user may not change are opened for it, and get the mode that they had before. Call
// it while no program of the session runs, in the order of Compare.
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
	text, undone := keep(c.Old, c.New, c.judge)
	if c.Event == Removed || c.odd() {
		_, undone = c.Judge()
		return undone, Restore(c)
	}
	kept := c
	kept.Event, kept.was = Changed, c.is
	kept.was.content, kept.was.size = text, int64(len(text))
	return undone, Restore(kept)
}

func restore(c Change) error {
	s := c.was
	if c.Event == Added {
		s = c.is
	}
	switch {
	case c.unknown || c.Class == Unseen:
		return ErrUnknown
	case c.Event == NewRepository || c.partly:
		return ErrKeep
	case c.Event == Locked:
		return unlock(c)
	case c.Event != Added && s.mode.IsRegular() && (!s.whole || s.unread):
		return ErrKeep
	}
	o := opener{known: c.known}
	defer o.close()
	if err := o.root(s.root); err != nil {
		return err
	}
	dir, err := o.parent(path.Dir(s.rel), c.Event != Added)
	switch {
	case err != nil:
		return err
	case dir == nil:
		return ErrAsBefore
	}
	name := path.Base(s.rel)
	switch {
	case !c.asBefore(dir, name):
	case c.is.lost && !c.was.lost: // where it leads changed, and not the entry
		return ErrUnknown
	default:
		return ErrAsBefore
	}
	if err := c.back(dir, name); err != nil {
		return err
	}
	c.is.crowded = false // that folder has another name by now
	if !c.asBefore(dir, name) {
		return errFailed
	}
	return nil
}

// asBefore reports whether what was there before is there.
func (c Change) asBefore(dir *os.Root, name string) bool {
	info, err := dir.Lstat(name)
	if c.Event == Added {
		return errors.Is(err, fs.ErrNotExist)
	}
	if err != nil || info.Mode().Type() != c.was.mode.Type() {
		return false
	}
	switch {
	case info.IsDir():
		return !c.is.crowded || c.was.crowded
	case c.was.mode&fs.ModeSymlink != 0:
		to, err := dir.Readlink(name)
		return err == nil && to == c.was.link
	case info.Mode() != c.was.mode || info.Size() != int64(len(c.was.content)):
		return false
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|waitless, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, info.Size()+1))
	return err == nil && bytes.Equal(text, c.was.content)
}

// back puts back what was there.
func (c Change) back(dir *os.Root, name string) error {
	switch s := c.was; {
	case c.Event == Added:
		return remove(dir, name)
	case s.mode.IsDir():
		return restoreFolder(dir, name, c)
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

// unlock opens a folder that the user may not look into, so that what is in it is seen.
func unlock(c Change) error {
	if c.was.root != "" { // it was so before, and what was in it is not known
		return ErrKeep
	}
	o := opener{known: c.known}
	defer o.close()
	if err := o.root(c.is.root); err != nil {
		return err
	}
	_, err := o.parent(c.is.rel, false)
	return err
}

// restoreFile replaces a file as a whole, so that a link or a pipe in its place is not
// written to, nor a file that a program still has open, or that has other names.
func restoreFile(dir *os.Root, name string, s state) error {
	written, err := beside(dir, s)
	if err != nil {
		// What a program wrote must not stay, and the disk may be full of it.
		if err := clear(dir, name); err != nil {
			return err
		}
		if written, err = beside(dir, s); err != nil {
			return err
		}
	}
	if err = clear(dir, name); err == nil {
		err = dir.Rename(written, name)
	}
	if err != nil {
		_ = dir.Remove(written)
	}
	return err
}

// beside writes a file beside its place. Its name is short, as that of the file may be as
// long as it can be, and one that atomicfile deletes some day if this process ends.
func beside(dir *os.Root, s state) (name string, err error) {
	name = ".r." + rand.Text()[:12] + ".tmp"
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(s.content)
	if err = errors.Join(err, f.Chmod(s.mode), f.Sync(), f.Close()); err != nil {
		_ = dir.Remove(name)
		return "", err
	}
	return name, nil
}

// restoreFolder brings a folder back that is gone, or gives another name to a crowded one,
// which may hold anything. What was in it follows as changes of its own.
func restoreFolder(dir *os.Root, name string, c Change) error {
	if info, err := dir.Lstat(name); err == nil && info.IsDir() {
		if _, err := aside(dir, name); err != nil {
			return err
		}
		return c.mkdir(dir, name)
	}
	if err := clear(dir, name); err != nil {
		return err
	}
	if c.Class == GitFolder {
		return moveBack(dir, name, c.was)
	}
	return c.mkdir(dir, name)
}

func (c Change) mkdir(dir *os.Root, name string) error {
	if err := dir.Mkdir(name, 0o700); err != nil {
		return err
	}
	return chmodIn(dir, name, c.was.rights)
}

// moveBack looks for a repository's folder that was moved within the folder that it was
// in. Without it there is nothing to restore the repository from.
func moveBack(dir *os.Root, name string, was state) error {
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	for range maxRemoved / maxEntries { // a program may have made many folders
		list, _ := f.Readdirnames(maxEntries)
		if len(list) == 0 {
			break
		}
		for _, other := range list {
			info, err := dir.Lstat(other)
			if err != nil || !info.IsDir() {
				continue
			}
			if is := identity(info); is.inode != 0 && is.inode == was.inode.inode && is.device == was.inode.device {
				return dir.Rename(other, name)
			}
		}
	}
	return ErrGone
}
