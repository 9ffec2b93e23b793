package mount

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// harmless is what every mount has: no program of it gains rights, no device works.
const harmless = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV

const readOnly = unix.MOUNT_ATTR_RDONLY

// open opens a path below a folder, only to name it, and follows no link on the
// way. The path may begin with a slash.
func open(dir int, name string) (int, error) {
	return resolve(dir, name, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS)
}

func resolve(dir int, name string, how uint64) (int, error) {
	name = strings.TrimLeft(name, "/")
	if name == "" {
		name = "."
	}
	for {
		fd, err := unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: how})
		// EAGAIN: somebody renamed a folder on the way meanwhile.
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// clone returns what is mounted at fd, with all that is mounted below it, as a tree
// that is attached nowhere yet. Attributes are added to those it has: the host's
// are locked, and taking one away fails.
func clone(fd int, attributes uint64) (int, error) {
	tree, err := unix.OpenTree(fd, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE|unix.AT_EMPTY_PATH)
	if err != nil {
		return -1, fmt.Errorf("open_tree: %w", err)
	}
	if err := restrict(tree, attributes); err != nil {
		unix.Close(tree)
		return -1, err
	}
	return tree, nil
}

// restrict adds attributes to a mount and to all below it.
func restrict(tree int, attributes uint64) error {
	err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes})
	if err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	return nil
}

// newFS makes a file system that is attached nowhere yet. Options have the form
// name=value, or name.
func newFS(kind string, attributes int, options ...string) (int, error) {
	fs, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("fsopen %s: %w", kind, err)
	}
	defer unix.Close(fs)
	for _, option := range options {
		name, value, ok := strings.Cut(option, "=")
		if ok {
			err = unix.FsconfigSetString(fs, name, value)
		} else {
			err = unix.FsconfigSetFlag(fs, name)
		}
		if err != nil {
			return -1, fmt.Errorf("fsconfig %s %s: %w", kind, option, err)
		}
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, fmt.Errorf("create %s: %w", kind, err)
	}
	tree, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, attributes)
	if err != nil {
		return -1, fmt.Errorf("fsmount %s: %w", kind, err)
	}
	return tree, nil
}

// attach mounts a tree on what target names. Afterwards tree is the mounted folder.
func attach(tree, target int) error {
	err := unix.MoveMount(tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	return nil
}

// is reports whether fd is the root of the same mount as tree.
func is(fd, tree int) bool {
	a, err1 := mountID(fd)
	b, err2 := mountID(tree)
	return err1 == nil && err2 == nil && a == b
}

func mountID(fd int) (uint64, error) {
	var s unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &s)
	return s.Mnt_id, err
}

func isFolder(fd int) (bool, error) {
	var s unix.Stat_t
	err := unix.Fstat(fd, &s)
	return s.Mode&unix.S_IFMT == unix.S_IFDIR, err
}

// make opens a path below a folder of ours, and makes what is missing on the way: folders, and at the
// end a folder or an empty file. A link or a file in the way was made by a program
// inside, and is removed.
func makeBelow(dir int, name string, folder bool) (int, error) {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	at, err := unix.Dup(dir)
	if err != nil {
		return -1, err
	}
	for i, part := range parts {
		next, err := makeOne(at, part, folder || i < len(parts)-1)
		unix.Close(at)
		if err != nil {
			return -1, fmt.Errorf("make %s: %w", path.Join(parts[:i+1]...), err)
		}
		at = next
	}
	return at, nil
}

func makeOne(dir int, name string, folder bool) (int, error) {
	for range 3 {
		fd, err := open(dir, name)
		switch {
		case err == nil:
			if have, err := isFolder(fd); err != nil || have == folder {
				return fd, err
			}
			unix.Close(fd)
			err = remove(dir, name)
		case errors.Is(err, unix.ELOOP):
			err = remove(dir, name)
		case errors.Is(err, unix.ENOENT):
			err = create(dir, name, folder)
		}
		if err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOENT) {
			return -1, err
		}
	}
	return -1, unix.EBUSY
}

func create(dir int, name string, folder bool) error {
	if folder {
		return unix.Mkdirat(dir, name, 0o755)
	}
	fd, err := unix.Openat(dir, name, unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_WRONLY, 0o444)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// remove removes a file, a link or an empty folder.
func remove(dir int, name string) error {
	err := unix.Unlinkat(dir, name, 0)
	if errors.Is(err, unix.EISDIR) {
		return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR)
	}
	return err
}

// list reads the names in a folder that is open only to name it.
func list(dir int) ([]os.DirEntry, error) {
	fd, err := unix.Openat(dir, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), ".")
	defer f.Close()
	return f.ReadDir(-1)
}
