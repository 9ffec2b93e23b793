// Package notify tells which entries of folders were made, moved or deleted. The kernel
// notes each at the time when it happens, so that who reads afterwards misses none. It
// does not know what the folders are for.
//
// A Watcher is used by one goroutine at a time.
package notify

import "errors"

// ErrNone says that this system or file system tells nothing.
var ErrNone = errors.New("changes of folders are not told here")

// Event is one entry that was made, moved or deleted in a folder.
type Event struct {
	ID     int    // of the folder
	Name   string // of the entry; "" if the folder itself is not watched any more
	Folder bool   // it is or was a folder
}
