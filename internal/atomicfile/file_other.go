//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
	"time"
)

// locksWrites says that a temporary file is locked until it has its name. Here it must be
// closed before it is renamed.
const locksWrites = false

func lockWrite(*os.File) error { return nil }

const dontWait = 0

// rename retries for a while: a virus scanner or an indexer may have the target
// open for a moment.
func rename(folder *os.Root, from, to string) error {
	var err error
	for wait := 5 * time.Millisecond; wait < 500*time.Millisecond; wait *= 2 {
		if err = folder.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(wait)
	}
	return err
}

// SyncFolder does nothing: folders cannot be synced here.
func SyncFolder(*os.Root) error { return nil }

// keepOwner has nothing to keep: a new file inherits the rights of its folder.
func keepOwner(*os.File, fs.FileInfo) bool { return true }

// ownFile reports whether a file may belong to the user of this process.
func ownFile(fs.FileInfo) bool { return true }
