// Package brake is the file of a home that stops all work: while it exists, no process of the
// home begins a turn, a child session, a job or a call of a call. `hermes panic` sets it.
//
// It is read again each time something begins, which costs one look at the file system while
// it is off. What cannot be read counts as set. The package does not know what is stopped.
package brake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
)

// File is the brake of a home, by its path. Its methods may be called concurrently, in several
// processes.
type File string

// State says since when the brake is set, by whom and why. All fields are empty if the file
// cannot be read.
type State struct {
	Since  time.Time `json:"since"`
	By     string    `json:"by,omitempty"`     // what set it, such as "terminal 4711"
	Reason string    `json:"reason,omitempty"` // in the user's words
	// Fault says why the file could not be read; nil if it was.
	Fault error `json:"-"`
}

// maxSize is how much of the file is read, in bytes.
const maxSize = 64 << 10

// Set sets the brake. One that is set and can be read stays as it is, so that it keeps the time
// of the first.
func (f File) Set(s State) error {
	if old, set := f.State(); set && old.Fault == nil {
		return nil
	}
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	err = atomicfile.Write(string(f), append(raw, '\n'), atomicfile.Options{})
	if _, set := f.State(); set {
		return nil // also one that cannot be read and replaced
	}
	return cmp.Or(err, fmt.Errorf("%s was written and is not there", f))
}

// Lift removes the brake, and returns whether it was set.
func (f File) Lift() (was bool, err error) {
	err = os.Remove(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// State returns the brake and whether it is set. A brake that cannot be read is set.
func (f File) State() (s State, set bool) {
	info, err := os.Lstat(string(f)) // not opened unless it is a file: a pipe would wait for a writer
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return State{}, false
	case err != nil:
		return State{Fault: err}, true
	case !info.Mode().IsRegular():
		return State{Fault: fmt.Errorf("%s is no regular file", f)}, true
	}
	file, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) { // lifted just now
		return State{}, false
	}
	if err != nil {
		return State{Fault: err}, true
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSize))
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	if err != nil {
		return State{Fault: fmt.Errorf("read %s: %w", f, err)}, true
	}
	return s, true
}
