package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/skill/guard"
)

// Lock is the record of the installed skills.
type Lock struct {
	Version int                  `json:"version"`
	Skills  map[string]Installed `json:"skills"`
	// Taps are additional repositories to search.
	Taps []string `json:"taps,omitempty"`
}

// Installed is an installed skill with the content that was scanned.
type Installed struct {
	Source     string        `json:"source"`     // the registry: github, clawhub, …
	Identifier string        `json:"identifier"` // what the registry calls it
	Version    string        `json:"version,omitempty"`
	Trust      guard.Trust   `json:"trust"`
	Verdict    guard.Verdict `json:"verdict"`
	// Hash covers all files, so that local changes are detected.
	Hash    string            `json:"hash"`
	Files   map[string]string `json:"files"` // path to hash
	Rights  Rights            `json:"rights"`
	Folder  string            `json:"folder"` // below the skills folder, with slashes
	At      time.Time         `json:"installed_at"`
	Updated time.Time         `json:"updated_at,omitzero"`
}

func (l *Library) hubFolder() string { return filepath.Join(l.cfg.Home.Skills(), ".hub") }

func (l *Library) lockFile() string { return filepath.Join(l.hubFolder(), "lock.json") }

// readLock returns the lock, cached until the file changes. The caller holds
// memory.mu.
func (l *Library) readLock() Lock {
	st, err := os.Stat(l.lockFile())
	if err != nil {
		return Lock{}
	}
	at := stamp{st.ModTime().UnixNano(), st.Size()}
	if at == l.memory.lockAt {
		return l.memory.lock
	}
	lock, err := loadLock(l.lockFile())
	if err != nil {
		return Lock{} // callers of Installed get the error
	}
	l.memory.lock, l.memory.lockAt = lock, at
	return lock
}

// has reports whether a skill of this name was installed.
func (l Lock) has(name string) bool {
	_, ok := l.Skills[name]
	return ok
}

func loadLock(file string) (Lock, error) {
	lock := Lock{Version: 1, Skills: map[string]Installed{}}
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return lock, nil
	}
	if err != nil {
		return lock, fmt.Errorf("read the list of installed skills: %w", err)
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return lock, fmt.Errorf("the list of installed skills %s is damaged (%w); repair it, or move it and install the skills again", file, err)
	}
	if lock.Skills == nil {
		lock.Skills = map[string]Installed{}
	}
	return lock, nil
}

// Installed returns the record of the installed skills.
func (l *Library) Installed() (Lock, error) { return loadLock(l.lockFile()) }

// changeLock changes the record atomically, one process at a time.
func (l *Library) changeLock(ctx context.Context, change func(*Lock) error) error {
	return l.changeJSON(ctx, l.lockFile(), func(raw []byte) (any, error) {
		lock, err := loadLock(l.lockFile())
		if err != nil {
			return nil, err
		}
		lock.Skills = maps.Clone(lock.Skills)
		return &lock, change(&lock)
	})
}

// changeJSON replaces a file of this library under its lock.
func (l *Library) changeJSON(ctx context.Context, file string, change func(raw []byte) (any, error)) (err error) {
	if err := l.cfg.Home.Make(filepath.Dir(file)); err != nil {
		return err
	}
	held, err := atomicfile.Acquire(ctx, file, "hermes skills", lockWait)
	if err != nil {
		return err
	}
	defer func() {
		if e := held.Release(); err == nil {
			err = e
		}
	}()
	raw, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	value, err := change(raw)
	if err != nil || value == nil {
		return err
	}
	out, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(file, append(out, '\n'), atomicfile.Options{})
}

// lockWait is how long to wait for another process that holds a file.
const lockWait = 5 * time.Second

// Tap adds a repository (owner/name) to those that are searched, or removes it.
func (l *Library) Tap(ctx context.Context, repository string, on bool) error {
	return l.changeLock(ctx, func(k *Lock) error {
		kept := k.Taps[:0:0]
		for _, t := range k.Taps {
			if t != repository {
				kept = append(kept, t)
			}
		}
		if !on && len(kept) == len(k.Taps) {
			return fmt.Errorf("%q is not a tap; list them with `hermes skills tap list`", repository)
		}
		if on {
			kept = append(kept, repository)
		}
		k.Taps = kept
		return nil
	})
}

// Snapshot lists installed skills, so that they can be installed on another machine.
type Snapshot struct {
	Version int          `json:"version"`
	Skills  []Identified `json:"skills"`
	Taps    []string     `json:"taps,omitempty"`
}

// Identified is a skill of a snapshot: where it comes from, and its content at the time.
type Identified struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
	Hash       string `json:"hash"`
}

// Snapshot lists the installed skills by name.
func (l Lock) Snapshot() Snapshot {
	s := Snapshot{Version: 1, Taps: l.Taps}
	for _, name := range slices.Sorted(maps.Keys(l.Skills)) {
		s.Skills = append(s.Skills, Identified{name, l.Skills[name].Identifier, l.Skills[name].Hash})
	}
	return s
}

// ParseSnapshot reads a snapshot. path names it in the error.
func ParseSnapshot(path string, raw []byte) (s Snapshot, err error) {
	if err := json.Unmarshal(raw, &s); err != nil || s.Version != 1 {
		return s, fmt.Errorf("%s is not a snapshot; create one with `hermes skills snapshot export`", path)
	}
	return s, nil
}
