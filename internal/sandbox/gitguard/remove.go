package gitguard

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxRemoved bounds how many files of one folder are deleted. What is beyond stays under
// another name.
const maxRemoved = 100_000

// remove deletes a file, or a folder with all that is in it.
func remove(dir *os.Root, name string) error {
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	if err := dir.Remove(name); err == nil || !info.IsDir() {
		return err
	}
	// Nothing obeys it any more, whatever becomes of what is in it.
	to, err := aside(dir, name)
	if err == nil {
		_ = empty(dir, to)
	}
	return err
}

// empty deletes a folder with what is in it. A folder may be so deep that its path is too
// long and its parents cannot all be open, so deep ones are moved up first.
func empty(dir *os.Root, name string) error {
	top, err := enter(dir, name)
	if err != nil {
		return err
	}
	defer top.Close()
	removed := 0
	err = each(top, &removed, func(sub string) error {
		in, err := enter(top, sub)
		if err != nil {
			return err
		}
		defer in.Close()
		err = each(in, &removed, func(deep string) error {
			if d, err := enter(in, deep); err == nil { // it must be writable to be moved
				d.Close()
			}
			return top.Rename(path.Join(sub, deep), rand.Text())
		})
		if err != nil {
			return err
		}
		return top.Remove(sub)
	})
	if err != nil {
		return err
	}
	return dir.Remove(name)
}

// each deletes what is in a folder, and calls f for folders that are not empty.
func each(dir *os.Root, removed *int, f func(name string) error) error {
	for {
		list, err := some(dir, 1000)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, name := range list {
			if *removed++; *removed > maxRemoved {
				return errors.New("too many files to delete")
			}
			if dir.Remove(name) == nil {
				continue
			}
			if err := f(name); err != nil {
				return err
			}
		}
	}
}

// some lists some of the names in a folder.
func some(dir *os.Root, most int) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.Readdirnames(most)
	if len(list) == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return list, nil
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
	_, err = aside(dir, name)
	return err
}

// aside gives something another name, under which nothing obeys it.
func aside(dir *os.Root, name string) (to string, err error) {
	const longest = 200 // of 255 bytes
	short := strings.TrimPrefix(name, ".")
	to = short[:min(len(short), longest)] + ".set-aside-0"
	if _, err := dir.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		to = strings.TrimSuffix(to, "0") + rand.Text()[:12] // a program may have taken all numbers
	}
	return to, dir.Rename(name, to)
}
