package checkpoint

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
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
