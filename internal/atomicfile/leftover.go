package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"hermes/internal/lazy"
)

const (
	// leftoverAge is the least age of a temporary file that is removed. A writer needs
	// moments; those of earlier versions held no lock.
	leftoverAge = time.Hour
	// maxNames limits how much of a folder is searched for them.
	maxNames = 20_000
)

// temporaryName matches the names of temporary files; see temporary.
var temporaryName = lazy.Regexp(`^\..+\.[A-Z2-7]{12}\.tmp$`)

// Sweep removes from a folder the temporary files of writers that were killed: those that
// are at least an hour old, belong to this user, and are locked by no process. It returns
// how many; what cannot be removed stays for the next time. Where files cannot be locked
// while they are renamed (Windows), it removes none.
func Sweep(folder string) (int, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, plain(err)
	}
	defer root.Close()
	return sweep(root, "."), nil
}

// sweep removes temporary files whose names begin with a prefix.
func sweep(folder *os.Root, prefix string) (removed int) {
	if !locksWrites {
		return 0
	}
	f, err := folder.Open(".")
	if err != nil {
		return 0
	}
	defer f.Close()
	for read := 0; read < maxNames; {
		names, err := f.Readdirnames(1000)
		read += len(names)
		for _, name := range names {
			if strings.HasPrefix(name, prefix) && temporaryName().MatchString(name) && abandoned(folder, name) && folder.Remove(name) == nil {
				removed++
			}
		}
		if err != nil && !errors.Is(err, io.EOF) || len(names) == 0 {
			break
		}
	}
	return removed
}

// abandoned reports whether no process writes a temporary file any more.
func abandoned(folder *os.Root, name string) bool {
	info, err := folder.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !ownFile(info) || time.Since(info.ModTime()) < leftoverAge {
		return false
	}
	f, err := folder.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return lockWrite(f) == nil
}
