package mount

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"
)

// mounts makes what was asked for.
func (b *builder) mounts() error {
	entries, skipped := plan(b.root, b.top)
	b.report.Skipped = append(b.report.Skipped, skipped...)
	b.pinned = map[string]bool{}
	for _, e := range entries {
		if err := b.mount(e); err != nil {
			return fmt.Errorf("mount %q: %w", e.path, err)
		}
	}
	// Only now is there all that a link may lead to.
	for _, e := range b.linked {
		if err := b.follow(e); err != nil {
			return fmt.Errorf("mount what %q leads to: %w", e.path, err)
		}
	}
	for _, at := range b.root.Links {
		if err := b.link(at, entries); err != nil {
			b.report.Skipped = append(b.report.Skipped, Problem{at, err.Error()})
		}
	}
	return nil
}

// mount makes one mount, or reports why not.
func (b *builder) mount(e *entry) error {
	err := b.try(e)
	for range 2 {
		if !errors.Is(err, errMoved) {
			break
		}
		err = b.try(e)
	}
	gone := errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR)
	switch {
	case err == nil:
		return nil
	case e.kind == private:
		return fmt.Errorf("use %q there: %w", e.source, err)
	case gone && slices.Contains(b.root.Protected, e.path):
		b.report.Missing = append(b.report.Missing, e.path)
	case gone:
	case !refused(err):
		return err
	case e.kind == pin || e.kind == fresh: // what needs them is reported
	case !b.guards(e):
		b.report.Skipped = append(b.report.Skipped, Problem{e.path, err.Error()})
	case errors.Is(err, unix.ELOOP):
		b.linked = append(b.linked, e)
	case e.kind == hide && errors.Is(err, unix.EACCES):
		return fmt.Errorf("hide %s: %w", e.path, err) // whoever closed a folder above it can open it again
	default:
		b.unprotected(e.path, err.Error())
	}
	return nil
}

// guards reports whether an entry keeps something from the programs inside. A path
// that is to be read-only in a writable folder is protected without being asked.
func (b *builder) guards(e *entry) bool {
	return e.kind == hide || e.kind == protect && slices.Contains(b.root.Protected, e.path)
}

// refused reports whether an error is about one path, and not about all mounts.
func refused(err error) bool {
	for _, one := range []error{errMoved, unix.ELOOP, unix.EACCES, unix.EBUSY, unix.ENOTEMPTY, unix.EROFS, unix.ENAMETOOLONG, unix.ESTALE} {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}

func (b *builder) unprotected(path, why string) {
	b.report.Unprotected = append(b.report.Unprotected, Problem{path, why})
}

// errMoved says that another process moved a path while it was mounted on.
var errMoved = errors.New("another program moves it at this moment")

// try makes one mount.
func (b *builder) try(e *entry) error {
	source, err := b.source(e)
	if err != nil {
		return err
	}
	if source >= 0 {
		defer unix.Close(source)
	}
	folder := true
	if source >= 0 {
		if folder, err = isFolder(source); err != nil {
			return err
		}
	}
	target, err := b.target(e, folder)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	tree, err := b.tree(e, source, target)
	if err != nil {
		return err
	}
	defer unix.Close(tree)
	if err := attach(tree, target); err != nil {
		return err
	}
	if err := b.confirm(e, tree); err != nil {
		return err
	}
	b.pinned[e.path] = true
	if b.guards(e) {
		b.weak(e, target)
	}
	return nil
}

// weak reports by what ways a path that is covered can still be reached. A file may
// have more names; a folder above may have been away when it was to be pinned.
func (b *builder) weak(e *entry, fd int) {
	var s unix.Stat_t
	if unix.Fstat(fd, &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFREG && s.Nlink > 1 {
		b.unprotected(e.path, fmt.Sprintf("the file has %d names (hard links); through another one it is as before", s.Nlink))
	}
	above := entry{path: e.path, kind: e.kind, under: e.folder()}
	for _, folder := range above.pins() {
		if !b.pinned[folder] {
			b.unprotected(e.path, folder+" could not be kept in place")
		}
	}
}

// source opens what is mounted, if it is the host's: else it is -1.
func (b *builder) source(e *entry) (int, error) {
	if e.source == "" {
		return -1, nil
	}
	return open(b.old, e.source)
}

// target opens the mount point, and makes it if it is in a folder of ours.
func (b *builder) target(e *entry, folder bool) (int, error) {
	if !e.creatable() {
		return open(b.new, e.path)
	}
	up := e.folder()
	base, err := open(b.new, up.path)
	if err != nil {
		return -1, err
	}
	defer unix.Close(base)
	return makeBelow(base, e.path[len(up.path):], folder)
}

// tree returns what is to be attached at target.
func (b *builder) tree(e *entry, source, target int) (int, error) {
	switch e.kind {
	case fresh:
		return b.memory(e.path)
	case private, write:
		return clone(source, harmless)
	case read:
		return clone(source, harmless|readOnly)
	case pin:
		return clone(target, harmless)
	case protect:
		return clone(target, harmless|readOnly)
	}
	folder, err := isFolder(target)
	if err != nil {
		return -1, err
	}
	return b.cover(folder)
}

// memory makes an empty file system. Temporary folders may be large; /run holds
// sockets and process numbers.
func (b *builder) memory(path string) (int, error) {
	if path == "/run" {
		return newFS("tmpfs", harmless, "size=16m", "nr_inodes=16k", "mode=755")
	}
	return newFS("tmpfs", harmless, "mode=1777")
}

// cover returns an empty file or folder that is read-only.
func (b *builder) cover(folder bool) (int, error) {
	name := "file"
	if folder {
		name = "folder"
	}
	fd, err := open(b.blank, name)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	return clone(fd, readOnly)
}

// confirm looks whether the mount is where its path leads: the folder may have been
// moved between opening it and mounting on it. Once it is a mount point, programs
// inside cannot move it.
func (b *builder) confirm(e *entry, tree int) error {
	fd, err := open(b.new, e.path)
	if err != nil {
		return errMoved
	}
	defer unix.Close(fd)
	if !is(fd, tree) {
		return errMoved
	}
	return nil
}

// follow protects or hides what a path leads to that has a link on its way, if that
// is inside the new root. The link itself cannot be kept: in a writable folder it
// can be replaced.
func (b *builder) follow(e *entry) error {
	const replaceable = "it is, or is below, a symbolic link, which can be replaced"
	fd, err := resolve(b.new, e.path, unix.RESOLVE_IN_ROOT|unix.RESOLVE_NO_MAGICLINKS)
	if err != nil {
		b.unprotected(e.path, replaceable+"; it leads nowhere")
		return nil
	}
	defer unix.Close(fd)
	// The new root is mounted on "/", so the name is the one inside.
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return err
	}
	folder := e.folder()
	if !below(name, folder.path) || e.kind == protect && folder.kind != write && folder.kind != private {
		b.unprotected(e.path, replaceable+"; it leads out of "+folder.path)
		return nil
	}
	b.unprotected(e.path, replaceable+"; what it leads to now is covered")
	return b.late(&entry{path: name, kind: e.kind, under: folder})
}

// late makes a mount that was not planned, and the pins that it needs.
func (b *builder) late(e *entry) error {
	pins := e.pins()
	slices.Reverse(pins)
	for _, folder := range append(pins, e.path) {
		k := pin
		if folder == e.path {
			k = e.kind
		} else if b.pinned[folder] {
			continue
		}
		if err := b.mount(&entry{path: path.Clean(folder), kind: k, under: e.under}); err != nil {
			return err
		}
	}
	return nil
}
