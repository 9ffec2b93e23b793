package mount

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Build gives the calling process, all of its threads, the root that r describes,
// and ends with the old root detached. The process must have been started with
// [Attr] and not have called [Drop]. The working directory becomes "/". Descriptors
// that the process had stay open: they are the caller's to close.
//
// After an error the process has part of a root and must end. An error that is
// [ErrUnavailable] says that this host does not allow what a root needs.
func Build(r Root) (Report, error) {
	if err := r.check(); err != nil {
		return Report{}, err
	}
	b := builder{root: r, old: -1, new: -1, blank: -1}
	defer b.close()
	// The mount points' modes are to be as written here.
	defer unix.Umask(unix.Umask(0))
	for _, step := range []func() error{b.begin, b.proc, b.dev, b.mounts, b.network, b.hostname, b.seal, b.enter} {
		if err := step(); err != nil {
			return b.report, err
		}
	}
	return b.report, nil
}

// builder is a root that is being built. The new root is mounted on "/", above the
// old one: paths of this process still lead to the old one until enter, and the
// new one is reached through its descriptor.
type builder struct {
	root   Root
	old    int // the root that this process was started in
	new    int // the root that it gets
	blank  int // a folder in the new root that holds an empty file and an empty folder
	top    []string
	report Report
	pinned map[string]bool // the folders mounted on themselves
}

func (b *builder) close() {
	for _, fd := range []int{b.old, b.new, b.blank} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// blankName is where the empty file and folder are while the root is built.
const blankName = ".blank"

// begin cuts the mounts off from the host's, and attaches an empty new root.
func (b *builder) begin() error {
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err != nil {
		return unavailable("make mounts private", err)
	}
	if b.old, err = unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("open the old root: %w", err)
	}
	if b.new, err = newFS("tmpfs", harmless, "size=4m", "nr_inodes=32k", "mode=755"); err != nil {
		return unavailable("make the new root", err)
	}
	if err := attach(b.new, b.old); err != nil {
		return unavailable("attach the new root", err)
	}
	if err := b.links(); err != nil {
		return err
	}
	return b.makeBlank()
}

// links copies the links at the top of the host's root, such as /bin: the paths
// that the caller gives have their links followed, those in programs do not.
func (b *builder) links() error {
	entries, err := list(b.old)
	if err != nil {
		return fmt.Errorf("list /: %w", err)
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink == 0 {
			b.top = append(b.top, e.Name())
			continue
		}
		target, err := os.Readlink("/" + e.Name())
		if err != nil {
			continue
		}
		if err := unix.Symlinkat(target, b.new, e.Name()); err != nil {
			return fmt.Errorf("link /%s: %w", e.Name(), err)
		}
	}
	return nil
}

// makeBlank makes what covers hidden paths.
func (b *builder) makeBlank() error {
	tree, err := newFS("tmpfs", harmless|unix.MOUNT_ATTR_NOEXEC, "size=4k", "nr_inodes=8", "mode=755")
	if err != nil {
		return unavailable("make an empty folder", err)
	}
	b.blank = tree
	if err := b.place(tree, blankName, true); err != nil {
		return err
	}
	if err := create(tree, "file", false); err != nil {
		return err
	}
	return unix.Mkdirat(tree, "folder", 0o555)
}

// place attaches a tree at a path of the new root whose folders are all ours.
func (b *builder) place(tree int, name string, folder bool) error {
	target, err := makeBelow(b.new, name, folder)
	if err != nil {
		return err
	}
	defer unix.Close(target)
	if err := attach(tree, target); err != nil {
		return fmt.Errorf("mount /%s: %w", name, err)
	}
	return nil
}

// seal removes what only the building needed, and makes the new root read-only.
func (b *builder) seal() error {
	if err := unix.Fchdir(b.blank); err != nil {
		return err
	}
	// The covers stay: each is a mount of its own.
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the empty folder: %w", err)
	}
	if err := unix.Unlinkat(b.new, blankName, unix.AT_REMOVEDIR); err != nil {
		return fmt.Errorf("remove the empty folder: %w", err)
	}
	attr := &unix.MountAttr{Attr_set: readOnly}
	if err := unix.MountSetattr(b.new, "", unix.AT_EMPTY_PATH, attr); err != nil {
		return fmt.Errorf("make the new root read-only: %w", err)
	}
	return nil
}

// enter makes the new root the root of this process and drops the old one.
func (b *builder) enter() error {
	if err := unix.Fchdir(b.new); err != nil {
		return err
	}
	// The old root goes on top of the new one, so that no folder is needed for it.
	if err := unix.PivotRoot(".", "."); err != nil {
		return unavailable("change the root", err)
	}
	// /proc/1/exe still leads to a file of the old root. Without this the program
	// of this process could be overwritten through it.
	if err := restrict(b.old, readOnly); err != nil {
		return fmt.Errorf("make the old root read-only: %w", err)
	}
	if err := unix.Fchdir(b.old); err != nil {
		return err
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detach the old root: %w", err)
	}
	return unix.Chdir("/")
}

// ErrUnavailable is the kind of error that Build returns where the host does not
// allow what a root needs, as in a container.
var ErrUnavailable = errors.New("this host does not allow a root of one's own")

// unavailable wraps a refusal of the kernel.
func unavailable(doing string, err error) error {
	for _, refusal := range []error{unix.EPERM, unix.EACCES, unix.ENOSYS, unix.EOPNOTSUPP, unix.ENODEV} {
		if errors.Is(err, refusal) {
			return fmt.Errorf("%s: %w: %w", doing, err, ErrUnavailable)
		}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
