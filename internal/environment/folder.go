package environment

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes"
)

// enterDir returns the folder in which a command runs. If the remembered folder
// no longer exists, it is the nearest existing parent, and a note goes to the
// command's standard error.
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
		fmt.Fprintf(c.Stderr, "[the working folder %s no longer exists; running in %s]\n", dir, above)
	}
	return above, nil
}

// missingDir is the error for a working folder that does not exist. It matches
// fs.ErrNotExist.
type missingDir struct{ dir string }

func (e missingDir) Error() string {
	return "the folder " + e.dir + " does not exist; create it first or choose another"
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

// expandHome replaces a leading ~ by the home folder.
func expandHome(path, home string) string {
	if home == "" || path != "~" && !strings.HasPrefix(path, "~/") && !strings.HasPrefix(path, `~\`) {
		return path
	}
	return filepath.Join(home, path[1:])
}
