package checkpoint

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"hermes"
	"hermes/internal/checkpoint"
	"hermes/internal/lru"
)

// maxPlaces bounds the sessions elsewhere whose stores are kept.
const maxPlaces = 64

// StoresConfig says where snapshots are kept.
type StoresConfig struct {
	Here *checkpoint.Store // of this machine
	// Elsewhere returns the store of a session that does not work on this machine, nil if its
	// place can have none. A nil func is that of no place.
	Elsewhere func(session string, env hermes.Environment) *checkpoint.Store
	Home      string // the user's own folder on this machine; "" is unknown
}

// Stores knows which store has the snapshots of a session's files: that of this machine, or one
// of the place where the session works. Its methods may be called concurrently.
type Stores struct {
	StoresConfig
	mu     sync.Mutex
	places *lru.Map[string, placed] // by session
}

// placed is the store of an environment: a session that is opened again has another one.
type placed struct {
	env   hermes.Environment
	store *checkpoint.Store
}

// NewStores returns the stores of all sessions.
func NewStores(c StoresConfig) *Stores {
	return &Stores{StoresConfig: c, places: lru.New[string, placed](maxPlaces)}
}

// ErrNone means that the place of a session keeps no snapshots.
var ErrNone = errors.New("the place of this session keeps no checkpoints: use git there")

// Of returns the store of a session's files and the folder that snapshots of them are made of. Elsewhere
// it asks the place. ErrNone means that there is none; other errors are those of the place.
func (s *Stores) Of(ctx context.Context, h hermes.Host) (*checkpoint.Store, string, error) {
	files := h.Environment().Files()
	work, err := files.Resolve(orDot(h.Session().Dir))
	if err != nil {
		return nil, "", err
	}
	if onHost(files) {
		return s.Here, s.rootOf(resolved(work), work), nil
	}
	store := s.away(h.Session().ID, h.Environment())
	if store == nil {
		return nil, "", ErrNone
	}
	root, _, err := store.Root(ctx, work, work)
	return store, root, err
}

func onHost(files hermes.Files) bool {
	here, ok := files.(hermes.HostFiles)
	return ok && here.OnHost()
}

// away returns the store of a session elsewhere, nil if its place keeps no snapshots.
func (s *Stores) away(session string, env hermes.Environment) *checkpoint.Store {
	if s.Elsewhere == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if is, ok := s.places.Get(session); ok && is.env == env {
		return is.store
	}
	store := s.Elsewhere(session, env)
	s.places.Put(session, placed{env, store})
	return store
}

// rootOf returns the folder that a snapshot is made of for changes in dir: that of the session
// if dir is in it, else the nearest one above with a repository, else dir, or what of it
// exists. The home folder is never the root of a file below: a session that began there works
// in many projects.
func (s *Stores) rootOf(dir, work string) string {
	home := ""
	if s.Home != "" {
		home = resolved(s.Home)
	}
	if work != "" {
		if work = resolved(work); work != home && inside(work, dir) {
			return work
		}
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil && at != home {
			return at
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() || filepath.Dir(dir) == dir {
			return dir
		}
	}
}

// resolved follows the links of a path as far as it exists.
func resolved(at string) string {
	if real, err := filepath.EvalSymlinks(at); err == nil {
		return real
	}
	dir := filepath.Dir(at)
	if dir == at {
		return at
	}
	return filepath.Join(resolved(dir), filepath.Base(at))
}

func inside(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err == nil && filepath.IsLocal(rel)
}

func orDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}
