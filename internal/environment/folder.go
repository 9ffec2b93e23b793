package environment

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes"
)

// enterDir tells where a command shall run. A remembered folder that is gone
// gives way to the nearest one above it, and the command's reader is told.
func (l *Local) enterDir(c hermes.Command) (string, error) {
	if c.Dir != "" {
		dir, err := l.Files().Resolve(c.Dir)
		if err == nil && !isDir(dir) {
			err = missingDir{dir}
		}
		return dir, err
	}
	dir := l.currentDir()
	if isDir(dir) {
		return dir, nil
	}
	above := dir
	for !isDir(above) && above != filepath.Dir(above) {
		above = filepath.Dir(above)
	}
	if c.Stderr != nil {
		fmt.Fprintf(c.Stderr, "[the working folder %s is gone; running in %s]\n", dir, above)
	}
	return above, nil
}

// missingDir says that a folder to run in is not there; it is fs.ErrNotExist.
type missingDir struct{ dir string }

func (e missingDir) Error() string {
	return "the folder " + e.dir + " does not exist; make it first or choose another"
}

func (missingDir) Is(target error) bool { return target == fs.ErrNotExist }

func (l *Local) currentDir() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dir
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// expandHome puts the home folder in the place of a leading ~.
func expandHome(path, home string) string {
	if home == "" || path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, `~\`) {
		return path
	}
	return filepath.Join(home, path[1:])
}
