package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/object"
)

// errNotFolder means that a part of a path is something else.
var errNotFolder = errors.New("a part of the path is not a folder")

// openParent opens the folder of a path below an open folder. It follows no link. The caller
// closes it.
func openParent(root *os.Root, rel string) (*os.Root, error) {
	here, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	dir := path.Dir(rel)
	if dir == "." {
		return here, nil
	}
	for _, name := range strings.Split(dir, "/") {
		info, err := here.Lstat(name)
		if err == nil && !info.IsDir() {
			err = errNotFolder
		}
		var next *os.Root
		if err == nil {
			next, err = atomicfile.OpenSub(here, name)
		}
		here.Close()
		if err != nil {
			return nil, err
		}
		here = next
	}
	return here, nil
}

// Rel returns an absolute path of this machine as one in a folder of snapshots, with slashes.
// Links of the folders above it are followed, of which the last may be missing; the path itself may be
// a link. ok is false if it is not in the folder.
func Rel(folder, at string) (rel string, ok bool) {
	for dir := filepath.Dir(at); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			below, err := filepath.Rel(dir, at)
			if err != nil {
				return "", false
			}
			at = filepath.Join(real, below)
			break
		}
		if filepath.Dir(dir) == dir {
			break
		}
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	rel, err := filepath.Rel(folder, at)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}

// look returns what is at a path below an open folder. hash reads a file. Where a folder above
// is missing or is something else, nothing is.
func look(root *os.Root, rel string, hash func(here *os.Root, name string) (State, error)) (State, error) {
	here, err := openParent(root, rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotFolder) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer here.Close()
	return lookIn(here, path.Base(rel), hash)
}

func lookIn(here *os.Root, name string, hash func(here *os.Root, name string) (State, error)) (State, error) {
	info, err := here.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, nil
	case err != nil:
		return State{}, err
	case info.IsDir():
		return State{Kind: Folder, Mode: rights(info.Mode())}, nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := here.Readlink(name)
		return State{Kind: Link, Target: target}, err
	case !info.Mode().IsRegular():
		return leftOut(Special), nil
	}
	return hash(here, name)
}

// hashed reads a file without storing it.
func hashed(here *os.Root, name string) (State, error) {
	f, err := atomicfile.OpenFile(here, name)
	if err != nil {
		return State{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return State{}, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, f)
	return State{Kind: File, Mode: rights(info.Mode()), Size: n, Hash: object.Hash(sum.Sum(nil))}, err
}

// A ground is where the files of a workspace and its contents are: this machine, or a place that
// scripts work in.
type ground interface {
	// scan reads the tree and stores contents, without committing.
	scan(ctx context.Context, include []string) (*node, error)
	// look sets what is at each path, and stores contents. What is behind a link counts as
	// nothing.
	look(ctx context.Context, states map[string]State) error
	// apply does the steps of a restore and returns why some could not be done, by path.
	apply(ctx context.Context, j journal) (failed map[string]string, err error)
	// exists reports whether the folder is there.
	exists() bool
	// fetch makes the contents that are compared ready to be read.
	fetch(ctx context.Context, states []State) error
	// publish makes what the files of the workspace say durable where they are kept.
	publish(ctx context.Context) error
	// remove removes what is kept elsewhere.
	remove(ctx context.Context) error
}

// here is the ground of this machine.
type here struct {
	w     *workspace
	packs *object.Store
}

func (h here) scan(ctx context.Context, include []string) (*node, error) {
	c := h.w.store.cfg
	sc := &scan{
		bounds: boundsOf(clean(c.Folder), c.Limits, include), objects: h.packs, top: h.w.dir, now: c.Now,
		maxFiles: c.Limits.Files, cache: loadCache(h.w.file("scan")),
	}
	top, err := sc.run(ctx)
	if err != nil {
		return nil, err
	}
	entries, changed := sc.next()
	if !changed {
		return top, nil
	}
	if err := saveCache(h.w.file("scan"), entries); err != nil && !errors.Is(err, os.ErrPermission) {
		return nil, err
	}
	return top, nil
}

func (h here) look(_ context.Context, states map[string]State) error {
	root, err := atomicfile.OpenFolder(h.w.dir, false)
	if err != nil {
		return err
	}
	defer root.Close()
	for p := range states {
		states[p], err = look(root, p, func(here *os.Root, name string) (State, error) {
			c := &node{child: child{name: name}}
			sc := &scan{objects: h.packs, now: h.w.store.cfg.Now, added: map[string]*cached{}}
			err := sc.read(&handle{root: here}, c, p)
			return c.state, err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}

func (h here) apply(ctx context.Context, j journal) (map[string]string, error) {
	root, err := atomicfile.OpenFolder(h.w.dir, false)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &restoring{objects: h.packs, root: root, failed: map[string]string{}}
	r.apply(ctx, j)
	return r.failed, nil
}

func (h here) exists() bool {
	_, err := os.Stat(h.w.dir)
	return !errors.Is(err, fs.ErrNotExist)
}

func (here) fetch(context.Context, []State) error { return nil }

func (here) publish(context.Context) error { return nil }

func (here) remove(context.Context) error { return nil }
