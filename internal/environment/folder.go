package environment

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"hermes"
	"hermes/internal/isolation"
)

// enterDir returns the folder in which a command runs. If the remembered folder
// no longer exists, it is the nearest existing parent, and a note goes to the
// command's standard error. A command that the user was asked about runs in the folder
// that was shown, or not at all.
func (l *Local) enterDir(c hermes.Command) (string, error) {
	isDir := existsAsDir
	if places, ok := l.config.Walls.(isolation.Places); ok && !c.Outside {
		isDir = func(path string) bool { return existsAsDir(places.OnHost(path)) }
	}
	if c.Dir != "" {
		dir, err := l.Files().Resolve(c.Dir)
		if err == nil && !isDir(dir) {
			err = missingDir{dir, c.Outside}
		}
		return dir, err
	}
	dir := l.currentDir()
	if isDir(dir) {
		return dir, nil
	}
	if c.Ready != nil || c.Outside {
		return "", missingDir{dir, c.Outside}
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
type missingDir struct {
	dir     string
	outside bool // it is missing outside of the walls
}

func (e missingDir) Error() string {
	if e.outside {
		return "the folder " + e.dir + " does not exist outside of the sandbox; give another workdir, or use cd in the command"
	}
	return "the folder " + e.dir + " does not exist; create it first or choose another"
}

func (missingDir) Is(target error) bool { return target == fs.ErrNotExist }

func (l *Local) currentDir() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dir
}

func existsAsDir(path string) bool {
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
