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
		return err
	case gone && slices.Contains(b.root.Protected, e.path):
		b.report.Missing = append(b.report.Missing, e.path)
	case gone:
	case !refused(err):
		return err
	case e.kind == read || e.kind == write:
		b.report.Skipped = append(b.report.Skipped, Problem{e.path, err.Error()})
	case e.kind == protect || e.kind == hide:
		if errors.Is(err, unix.ELOOP) {
			return b.follow(e)
		}
		b.unprotected(e.path, err.Error())
	}
	return nil
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
	b.pinned[e.path] = true
	return b.confirm(e, tree)
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
