package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/skill/guard"
)

// Lock is the record of what was installed from elsewhere.
type Lock struct {
	Version int                  `json:"version"`
	Skills  map[string]Installed `json:"skills"`
	// Taps are repositories that are searched beside the usual ones.
	Taps []string `json:"taps,omitempty"`
}

// Installed is an installed skill, by the content that was looked at.
type Installed struct {
	Source     string        `json:"source"`     // the registry: github, clawhub, …
	Identifier string        `json:"identifier"` // what the registry calls it
	Version    string        `json:"version,omitempty"`
	Trust      guard.Trust   `json:"trust"`
	Verdict    guard.Verdict `json:"verdict"`
	// Hash is that of all files; it tells a local change.
	Hash    string            `json:"hash"`
	Files   map[string]string `json:"files"` // path to hash
	Rights  Rights            `json:"rights"`
	Folder  string            `json:"folder"` // below the skills folder, with slashes
	At      time.Time         `json:"installed_at"`
	Updated time.Time         `json:"updated_at,omitzero"`
}

func (l *Library) hubFolder() string { return filepath.Join(l.cfg.Home.Skills(), ".hub") }

func (l *Library) lockFile() string { return filepath.Join(l.hubFolder(), "lock.json") }

// readLock is the lock as it stands, remembered by its stamp. Hold memory.mu.
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
		return Lock{} // said where the lock itself is asked for
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
		return lock, fmt.Errorf("the list of installed skills %s is broken (%w); mend it or move it away, then install the skills again", file, err)
	}
	if lock.Skills == nil {
		lock.Skills = map[string]Installed{}
	}
	return lock, nil
}

// Installed is the record of what was installed from elsewhere.
func (l *Library) Installed() (Lock, error) { return loadLock(l.lockFile()) }

// changeLock changes the record in one step, one process at a time.
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

// lockWait is how long another process may hold a file.
const lockWait = 5 * time.Second

// Tap adds a repository (owner/name) to those that are searched, or takes it
// away.
func (l *Library) Tap(ctx context.Context, repository string, on bool) error {
	return l.changeLock(ctx, func(k *Lock) error {
		kept := k.Taps[:0:0]
		for _, t := range k.Taps {
			if t != repository {
				kept = append(kept, t)
			}
		}
		if !on && len(kept) == len(k.Taps) {
			return fmt.Errorf("%q is no tap; `hermes skills tap list` shows them", repository)
		}
		if on {
			kept = append(kept, repository)
		}
		k.Taps = kept
		return nil
	})
}
