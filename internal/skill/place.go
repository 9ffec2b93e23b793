package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// placeable returns an error if no list would find a skill in this folder: a
// folder above it, within the folder of all skills, is itself a skill or a link.
func (l *Library) placeable(folder string) error {
	for _, root := range []string{l.cfg.Home.Skills(), l.cfg.CreateDir} {
		rest, err := filepath.Rel(root, filepath.Dir(folder))
		if root == "" || err != nil || !filepath.IsLocal(rest) {
			continue
		}
		above := root
		for _, name := range strings.Split(rest, string(filepath.Separator)) {
			above = filepath.Join(above, name)
			st, err := os.Lstat(above)
			switch {
			case errors.Is(err, fs.ErrNotExist) || above == root:
				continue
			case err != nil:
				return err
			case !st.IsDir():
				return fmt.Errorf("%s is not a folder, so no skill can be put in it; choose another category", above)
			}
			if _, err := os.Lstat(filepath.Join(above, mainFile)); err == nil {
				return fmt.Errorf("%s is a skill, so no skill can be put in it; choose another category", above)
			}
		}
	}
	return nil
}

// vacant returns an error if there is something at a folder where a skill is to
// be put.
func vacant(folder string) error {
	if _, err := os.Lstat(folder); err == nil {
		return fmt.Errorf("the folder %s already exists; move it or choose another name", folder)
	}
	return nil
}

// inCategory returns the folder of a skill whose category was not chosen here.
// The category is dropped if it cannot be one.
func (l *Library) inCategory(category, name string) string {
	folder := filepath.Join(l.cfg.Home.Skills(), category, name)
	if l.placeable(folder) != nil {
		return filepath.Join(l.cfg.Home.Skills(), name)
	}
	return folder
}

// sameFile returns an error if a path of a skill leads to a file of another
// name: through a linked folder.
func sameFile(root *os.Root, name string) error {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if st, err := root.Lstat(dir); err == nil && !st.IsDir() {
			return fmt.Errorf("%s of the skill is a link or a file; use the path that it leads to", dir)
		}
	}
	return nil
}

// otherSpelling returns the file of a skill whose name differs in case only,
// or "". Some file systems take the two for one.
func otherSpelling(files []string, name string) string {
	for _, f := range files {
		if f != name && strings.EqualFold(f, name) {
			return f
		}
	}
	return ""
}
