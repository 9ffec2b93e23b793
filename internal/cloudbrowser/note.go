package cloudbrowser

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/liveness"
)

// Names and bounds of notes.
const (
	notePrefix = "session-"
	noteName   = "session.json"
	maxNote    = 1 << 10 // bytes
	maxNotes   = 1_000   // that Left looks at
	// longest is longer than any service keeps a browser open.
	longest = 7 * time.Hour
)

// Note is a folder that says that a browser is open, for as long as this process lives. If the process is
// killed, [Left] of a later one finds it. It has the names of the service, of the account ([Client.Account]) and of
// the session, no key and no address.
type Note struct{ folder *liveness.Folder }

type noted struct {
	Service string `json:"service"`
	Account string `json:"account"`
	ID      string `json:"id"`
}

// Begin makes a note below a folder, before a browser is opened: what cannot be noted is not opened.
func Begin(parent string) (*Note, error) {
	f, err := liveness.TempFolder(parent, notePrefix)
	if err != nil {
		return nil, fmt.Errorf("note that a browser is opened: %w", err)
	}
	return &Note{f}, nil
}

// Opened notes which browser it is.
func (n *Note) Opened(service, account, id string) error {
	raw, err := json.Marshal(noted{service, account, id})
	if err == nil {
		err = os.WriteFile(filepath.Join(n.folder.Path, noteName), raw, 0o600)
	}
	if err != nil {
		return fmt.Errorf("note that a browser is open: %w", err)
	}
	return nil
}

// Released removes the note.
func (n *Note) Released() error { return n.folder.Remove() }

// Keep leaves the note to the next Left, since the browser could not be released.
func (n *Note) Keep() error { return n.folder.Free() }

// Left calls release for each noted browser whose process has ended, or could not release it, and removes
// the note if that succeeds; it returns the first error. Notes of browsers that no service still keeps open are removed.
func Left(parent string, release func(service, account, id string) error) error {
	f, err := os.Open(parent)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := f.Readdirnames(maxNotes)
	f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	for _, name := range names {
		dir := filepath.Join(parent, name)
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !strings.HasPrefix(name, notePrefix) {
			continue
		}
		if time.Since(info.ModTime()) < longest {
			if !liveness.Ended(filepath.Join(dir, liveness.LockName)) {
				continue
			}
			if n, ok := readNote(filepath.Join(dir, noteName)); ok {
				if err := release(n.Service, n.Account, n.ID); err != nil {
					keep(err)
					continue
				}
			}
		}
		keep(os.RemoveAll(dir))
	}
	return first
}

// readNote reads a note; ok is false if its process ended before a browser was open.
func readNote(path string) (n noted, ok bool) {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxNote {
		return n, false
	}
	raw, err := os.ReadFile(path)
	return n, err == nil && json.Unmarshal(raw, &n) == nil && plainID.MatchString(n.ID)
}
