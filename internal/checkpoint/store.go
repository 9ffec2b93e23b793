package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/checkpoint/away"
	"hermes/internal/checkpoint/object"
)

// Limits bound what is kept. A zero is no limit, except where the field says so.
type Limits struct {
	Snapshots int           // of a workspace; older ones go
	TotalSize int64         // bytes of the whole store
	FileSize  int64         // bytes; larger files are left out
	Files     int64         // in a workspace, 0 is 50,000; a folder with more is refused
	Age       time.Duration // older snapshots go
	Interval  time.Duration // between two calls of PruneIfDue that do something
}

// defaultFiles is the most files that a workspace may have.
const defaultFiles = 50_000

// Config says where a store is and what it may keep.
type Config struct {
	Folder string // an absolute path; made when it is first needed
	// Home is the user's own folder, of which as a whole no snapshot is made. "" is none.
	Home   string
	Limits Limits
	Now    func() time.Time // nil is time.Now
	// Place is where the folders are and their checkpoints are kept, if that is not this
	// machine; nil is this machine. Folder then has copies of small files, which may be removed;
	// stores of one place may share it.
	Place away.Shell
}

// Store makes, compares and restores snapshots. Its methods may be called concurrently, also
// by several processes: those that work on one workspace wait for each other.
type Store struct {
	cfg   Config
	there elsewhere // not used on this machine
}

// New returns the store of a folder. It touches no file.
func New(c Config) *Store {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Limits.Files == 0 {
		c.Limits.Files = defaultFiles
	}
	return &Store{cfg: c}
}

// ErrRefused means that no snapshots are made of a folder. The text says why.
var ErrRefused = errors.New("no checkpoints are made of this folder")

// ErrUnknown means that a workspace has no such snapshot.
var ErrUnknown = errors.New("there is no such checkpoint")

// ErrUnable means that a place lacks what checkpoints need there; it is an ErrRefused, too.
var ErrUnable = away.ErrUnable

// patience is how long a call waits for another process.
const patience = 30 * time.Second

// A workspace is a locked folder of the store.
type workspace struct {
	store   *Store
	dir     string // the folder that snapshots are made of, without links
	at      string // its folder in the store
	lock    *atomicfile.Lock
	objects contents
	ground  ground
	list    list
	unshown map[object.Hash]bool // contents elsewhere that are too much to be shown
}

// contents keeps contents by their hash. Has and Read also know what was added and is not
// committed yet.
type contents interface {
	Has(object.Hash) bool
	Read(object.Hash) ([]byte, error)
	Add([]byte) (object.Hash, error)
	Commit() error
	Sweep(ctx context.Context, keep func(object.Hash) bool) error
	Size() int64
	Packs() int
	Close() error
}

// resolve returns the real path of a folder.
func resolve(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return abs, nil // a workspace whose folder is gone can still be listed
	}
	return real, err
}

// resolve returns the real path of a folder.
func (s *Store) resolve(ctx context.Context, dir string) (string, error) {
	if s.away() {
		return s.there.resolve(ctx, s.cfg.Place, dir)
	}
	return resolve(dir)
}

// check refuses folders that are too much for a snapshot.
func (s *Store) check(dir string) error {
	if s.away() {
		return s.there.check(dir)
	}
	parent := filepath.Dir(dir)
	switch {
	case parent == dir:
		return fmt.Errorf("%w: it is the top of the file system", ErrRefused)
	case s.cfg.Home != "" && within(dir, clean(s.cfg.Home)):
		return fmt.Errorf("%w: your home folder is in it; start in a project's folder", ErrRefused)
	case within(clean(s.cfg.Folder), dir):
		return fmt.Errorf("%w: it is in the folder of the checkpoints", ErrRefused)
	}
	return nil
}

// clean returns a path without links, if it is there.
func clean(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// idOf names the folder of a workspace in the store.
func idOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:8])
}

// asking says what a workspace of a place will be asked first, so that this takes no script of its own. If it
// guesses wrong, nothing is lost but that.
type asking func(w *workspace) away.Question

// open locks the workspace of a folder, reads its list and finishes an interrupted restore.
// The caller closes it.
func (s *Store) open(ctx context.Context, dir, holder string, first asking) (*workspace, error) {
	dir, err := s.resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	return s.openAt(ctx, s.folderOf(dir), dir, holder, patience, first)
}

// openChecked is open for a folder of which a snapshot will be made.
func (s *Store) openChecked(ctx context.Context, dir, holder string, first asking) (*workspace, error) {
	real, err := s.resolve(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := s.check(real); err != nil {
		return nil, err
	}
	return s.openAt(ctx, s.folderOf(real), real, holder, patience, first)
}

func (s *Store) openAt(ctx context.Context, at, dir, holder string, wait time.Duration, first asking) (*workspace, error) {
	if err := os.MkdirAll(s.cfg.Folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := atomicfile.Acquire(ctx, at, holder, wait)
	if err != nil {
		return nil, err
	}
	w := &workspace{store: s, dir: dir, at: at, lock: lock}
	if err := w.ready(ctx, wait, first); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// ready reads what is stored of a workspace that is locked, and finishes an interrupted restore.
func (w *workspace) ready(ctx context.Context, wait time.Duration, first asking) (err error) {
	away := w.store.away()
	if away {
		if err := w.enter(ctx, wait, first); err != nil {
			return err
		}
	}
	if w.list, err = loadList(w.file(listName)); err != nil {
		return err
	}
	if w.dir == "" {
		w.dir = w.list.Folder
	}
	if w.list.Folder == "" {
		w.list.Folder = w.dir
	}
	if w.list.Folder != w.dir {
		return fmt.Errorf("the checkpoints in %s belong to %s", w.at, w.list.Folder)
	}
	packs, err := object.Open(w.file("packs"))
	if err != nil {
		return err
	}
	if away {
		w.equip(ctx, packs)
	} else {
		w.objects, w.ground = packs, here{w, packs}
	}
	return w.finishRestore(ctx)
}

func (w *workspace) close() {
	if w.objects != nil {
		w.objects.Close()
	}
	if t, ok := w.ground.(*there); ok {
		t.copy.close()
	}
	_ = w.lock.Release() // it ends with the process at the latest
}

// folderOf returns the folder of a workspace in the store.
func (s *Store) folderOf(dir string) string { return filepath.Join(s.cfg.Folder, idOf(dir)) }

func (w *workspace) file(name string) string { return filepath.Join(w.at, name) }

// Workspace is a folder that snapshots were made of.
type Workspace struct {
	Folder    string     `json:"folder"`
	Size      int64      `json:"size"` // bytes in the store
	Head      string     `json:"head"` // the snapshot that the next one follows
	Snapshots []Snapshot `json:"snapshots"`
	// Damaged names files of the store that cannot be read. Snapshots that need them cannot
	// be restored.
	Damaged []string `json:"damaged,omitempty"`
}

// Workspaces lists all folders that have snapshots, in the order of their paths.
func (s *Store) Workspaces() ([]Workspace, error) {
	if s.away() {
		return s.workspacesAway()
	}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	var out []Workspace
	for _, id := range ids {
		at := filepath.Join(s.cfg.Folder, id)
		l, err := loadList(filepath.Join(at, listName))
		if err != nil {
			out = append(out, Workspace{Folder: at, Damaged: []string{listName}})
			continue
		}
		if len(l.Snapshots) > 0 {
			out = append(out, Workspace{Folder: l.Folder, Size: sizeOf(at), Head: l.Head, Snapshots: l.Snapshots})
		}
	}
	sortBy(out, func(w Workspace) string { return w.Folder })
	return out, nil
}

// ids returns the names of the workspaces' folders.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.cfg.Folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if e.IsDir() && len(e.Name()) == 16 && strings.Trim(e.Name(), "0123456789abcdef") == "" {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// sizeOf returns the bytes of the files below a folder of the store.
func sizeOf(at string) int64 {
	var sum int64
	_ = filepath.WalkDir(at, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what is gone meanwhile takes no space
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// Nearest returns the folder itself, or the nearest one above it, that has snapshots. ok is
// false if none has.
func (s *Store) Nearest(dir string) (folder string, ok bool) {
	if s.away() {
		return s.nearestAway(dir)
	}
	at, err := resolve(dir)
	if err != nil {
		return dir, false
	}
	for {
		if l, err := loadList(filepath.Join(s.folderOf(at), listName)); err != nil || len(l.Snapshots) > 0 {
			return at, true // one that is damaged is reported by who reads it
		}
		if filepath.Dir(at) == at {
			return dir, false
		}
		at = filepath.Dir(at)
	}
}
