//go:build !linux

package environment

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"hermes/internal/liveness"
)

// filePrefix begins the names of folders for the files of shells.
const filePrefix = "hermes-shell-"

// namedFiles are files in a folder that is made when it is first needed.
type namedFiles struct {
	folder *liveness.Folder
	count  int // of names used
}

// hand makes an empty file in a folder that only this user can enter.
func (l *Local) hand(int) (*handed, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.named.folder == nil {
		if l.config.Temp != "" {
			if err := os.MkdirAll(l.config.Temp, 0o700); err != nil {
				return nil, fmt.Errorf("create the folder for temporary files: %w", err)
			}
		}
		folder, err := liveness.TempFolder(l.config.Temp, filePrefix)
		if err != nil {
			return nil, fmt.Errorf("create a folder for the shell's files: %w", err)
		}
		l.named.folder = folder
	}
	l.named.count++
	path := filepath.Join(l.named.folder.Path, strconv.Itoa(l.named.count))
	return &handed{name: path, path: path}, nil
}

// close removes the files, and those of earlier processes that were killed.
func (n *namedFiles) close(l *Local) error {
	if n.folder == nil {
		return nil
	}
	liveness.Sweep(l.config.Temp, filePrefix)
	folder := n.folder
	n.folder = nil
	return folder.Remove()
}
