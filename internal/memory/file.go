package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"hermes/internal/atomicfile"
)

// The default limits of the files, in characters.
const (
	defaultNotes = 2200
	defaultUser  = 1375
	// maxFile bounds the size of a file, in bytes. A larger one is a mistake.
	maxFile = 1 << 20
	// lockWait is how long a change waits for another process by default.
	lockWait = 5 * time.Second
)

// Config says where the files are and what may be written.
type Config struct {
	Dir     string // folder of the files
	Pending string // folder of changes that wait for the user
	// NotesLimit and UserLimit are in characters. 0 means the default.
	NotesLimit, UserLimit int
	NoNotes, NoUser       bool // disable a file
	// Approval makes every change of the model wait for the user.
	Approval bool
	// Archive moves the oldest entries of a full file to ARCHIVE.jsonl instead
	// of refusing new ones.
	Archive bool
	// PerUser gives each user of a messenger their own USER.md; see [File.For].
	PerUser bool
	// Record, if set, wraps the writing of files and records an undo entry. what
	// is one line about the change.
	Record func(ctx context.Context, by Origin, what string, paths []string, write func() error) error
	Now    func() time.Time // nil is time.Now
	// Wait is how long a change waits for another process; 0 is 5 s.
	Wait time.Duration
}

// File gives access to the two memory files. Its methods may be called
// concurrently, also by several processes on the same files.
type File struct {
	cfg Config
	who string // whose USER.md it is; empty for the owner
	*shared
}

// shared is the state that the Files of all users share.
type shared struct {
	mu       sync.Mutex // keeps goroutines of this process from waiting for the file lock
	approval atomic.Bool
}

// NewFile makes a File. It does not access the disk.
func NewFile(c Config) *File {
	if c.NotesLimit <= 0 {
		c.NotesLimit = defaultNotes
	}
	if c.UserLimit <= 0 {
		c.UserLimit = defaultUser
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	b := &File{cfg: c, shared: &shared{}}
	b.approval.Store(c.Approval)
	return b
}

// Has reports whether a target is enabled.
func (b *File) Has(t Target) bool {
	if t == User {
		return !b.cfg.NoUser
	}
	return !b.cfg.NoNotes
}

// Approval reports whether changes of the model wait for the user.
func (b *File) Approval() bool { return b.approval.Load() }

// SetApproval sets whether changes of the model wait for the user from now on.
func (b *File) SetApproval(on bool) { b.approval.Store(on) }

// State is the current state of a target.
type State struct {
	Target  Target  `json:"target"`
	Entries []Entry `json:"entries"`
	Size    int     `json:"chars"` // including separators
	Limit   int     `json:"limit"`
	// Notes say what a change did, one for each operation.
	Notes []string `json:"-"`
	// Evicted lists the entries that were moved to the archive to make room.
	Evicted []string `json:"-"`
}

// Entry is one memory and its origin.
type Entry struct {
	Text   string `json:"text"`
	Origin Origin `json:"origin,omitzero"` // zero if it was written by hand
}

// Usage formats how full the target is.
func (s State) Usage() string { return usage(s.Size, s.Limit) }

// Texts returns the entries without their origins.
func (s State) Texts() []string {
	out := make([]string, len(s.Entries))
	for i, e := range s.Entries {
		out[i] = e.Text
	}
	return out
}

func (b *File) limit(t Target) int {
	if t == User {
		return b.cfg.UserLimit
	}
	return b.cfg.NotesLimit
}

func (b *File) path(t Target) string { return filepath.Join(b.folder(t), t.file()) }

// Read reads a target from the disk. A missing file is empty.
func (b *File) Read(t Target) (State, error) {
	content, err := b.load(t)
	if err != nil {
		return State{}, err
	}
	return b.state(t, parse(content)), nil
}

func (b *File) state(t Target, entries []string) State {
	s := State{Target: t, Size: size(entries), Limit: b.limit(t)}
	known := b.origins(t).of(t)
	for _, text := range entries {
		s.Entries = append(s.Entries, Entry{Text: text, Origin: known[hash(text)]})
	}
	return s
}

func (b *File) load(t Target) (string, error) {
	path := b.path(t)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return "", fmt.Errorf("%s is not a regular file of at most %d KB; move it away and add its entries again", path, maxFile>>10)
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return string(data), nil
}

// Change applies operations, all or none, and returns the new state. If the
// change is refused, the error is a *Refused; other errors come from the disk.
func (b *File) Change(ctx context.Context, t Target, operations []Operation, by Origin) (State, error) {
	if !b.Has(t) {
		return State{}, &Refused{Reason: fmt.Sprintf("the memory %q is disabled in the configuration", t)}
	}
	var after State
	err := b.locked(ctx, func() (err error) {
		after, err = b.change(ctx, t, operations, by)
		return err
	})
	return after, err
}

// locked runs a change of the files while no other process changes them.
func (b *File) locked(ctx context.Context, change func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := os.MkdirAll(b.cfg.Dir, 0o700); err != nil {
		return fmt.Errorf("create the memory folder: %w", err)
	}
	lock, err := atomicfile.Acquire(ctx, filepath.Join(b.cfg.Dir, ".memory"), "hermes memory", cmp.Or(b.cfg.Wait, lockWait))
	if err != nil {
		return err
	}
	return errors.Join(change(), lock.Release())
}

// change is called with the lock held. Editors take no lock: if a file changes
// while the change is computed, it is computed again from the new content.
func (b *File) change(ctx context.Context, t Target, operations []Operation, by Origin) (State, error) {
	for range 5 {
		before, err := b.load(t)
		if err != nil {
			return State{}, err
		}
		d, evicted, err := b.plan(t, parse(before), operations)
		if err != nil {
			return State{}, err
		}
		now, err := b.load(t)
		if err != nil {
			return State{}, err
		}
		if now == before {
			return b.write(ctx, t, d, evicted, by)
		}
	}
	return State{}, fmt.Errorf("another program is changing %s; try again", b.path(t))
}

// plan applies operations to entries and checks the limit. A change that makes
// a file smaller is always accepted.
func (b *File) plan(t Target, entries []string, operations []Operation) (draft, []string, error) {
	d, err := apply(entries, operations)
	if err != nil {
		var refused *Refused
		if errors.As(err, &refused) {
			refused.State = b.state(t, entries)
		}
		return d, nil, err
	}
	limit, had, n := b.limit(t), size(entries), size(d.entries)
	if n <= limit || n < had {
		return d, nil, nil
	}
	if b.cfg.Archive {
		if evicted := d.evict(limit); size(d.entries) <= limit {
			return d, evicted, nil
		}
	}
	return d, nil, &Refused{
		Full: true, State: b.state(t, entries),
		Reason: fmt.Sprintf("not stored: the memory %q has %s, and this would make it %s. Replace or remove entries that are stale or can be merged, all in one call with operations, then add this", t, usage(had, limit), usage(n, limit)),
	}
}
