package mount

import (
	"errors"
	"path"

	"golang.org/x/sys/unix"
)

// link copies a link of the host, if it would be in a folder of ours: elsewhere it is
// there already, or its folder is not open.
func (b *builder) link(at string, entries []*entry) error {
	if madeNew(at) != "" {
		return nil
	}
	target, err := b.readLink(at)
	if err != nil || target == "" {
		return err
	}
	base, rest := b.new, at[1:]
	if in := innermost(entries, at); in != nil {
		if !in.ours() {
			return nil
		}
		if base, err = open(b.new, in.path); err != nil {
			return err
		}
		defer unix.Close(base)
		rest = at[len(in.path)+1:]
	}
	dir := base
	if parent := path.Dir(rest); parent != "." {
		if dir, err = makeBelow(base, parent, true); err != nil {
			return err
		}
		defer unix.Close(dir)
	}
	return makeLink(dir, path.Base(rest), target)
}

// innermost returns the entry that a path is in, nil if that is the new root itself.
func innermost(entries []*entry, at string) (in *entry) {
	for _, e := range entries {
		if e.kind != pin && (e.path == at || below(at, e.path)) && (in == nil || len(e.path) > len(in.path)) {
			in = e
		}
	}
	if in != nil && in.path == at {
		return &entry{kind: read} // something is mounted there
	}
	return in
}

// readLink returns where a link of the host leads, "" if it is none.
func (b *builder) readLink(at string) (string, error) {
	dir, err := open(b.old, path.Dir(at))
	if err != nil {
		return "", err
	}
	defer unix.Close(dir)
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, path.Base(at), buffer)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return "", nil
	}
	return string(buffer[:max(n, 0)]), err
}

// makeLink makes a link. One that programs of an earlier session put in its place is
// replaced, a folder is not.
func makeLink(dir int, name, target string) error {
	err := unix.Symlinkat(target, dir, name)
	if !errors.Is(err, unix.EEXIST) {
		return err
	}
	buffer := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(dir, name, buffer); err == nil && string(buffer[:n]) == target {
		return nil
	}
	if err := remove(dir, name); err != nil {
		return err
	}
	return unix.Symlinkat(target, dir, name)
}
