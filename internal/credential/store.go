// Package credential stores the keys and logins of model services and lends them
// to calls. A service may have several; one that fails is paused, and work goes
// on with the others.
//
// They are in one file (auth.json), readable by its owner only and shared by all
// processes of a profile. Changes are made under a lock between processes, on the
// file's current content. Only one process at a time renews a login, and it
// writes the new tokens before they are used. Secrets of the environment, the
// settings or a keychain are stored as a reference and a fingerprint only.
//
// The package must not know any protocol and never reads a service's text: the
// class and the flags of a hermes.ModelError decide. Start reading at Store, then
// pool.go (lending), refresh.go, and add.go and change.go (the user's commands).
// rest.go says how long a failure pauses a credential,
// programs.go how logins of other programs are taken over.
package credential

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/oauth"
)

// Keychain stores secrets in the system's keychain instead of our file.
type Keychain interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, secret string) error
	Delete(ctx context.Context, name string) error
}

// Config says where credentials are stored and how they are chosen.
type Config struct {
	Path string // of auth.json; its folder is created when something is stored
	// Strategies maps a pool to how a credential is chosen: fill_first (also
	// if there is no entry), round_robin, random or least_used.
	Strategies map[string]string
	// Login returns how the logins of a pool are renewed; nil knows none.
	Login func(pool string) (oauth.Config, bool)
	// UserHome is the user's home folder, where other programs store logins, and
	// Getenv reads the variables that move them; both may be missing.
	UserHome string
	Getenv   func(string) string
	// Programs reads the login of another program from the keychain of macOS, by
	// its service there. Nil means that there is no such keychain.
	Programs func(ctx context.Context, service string) (string, error)
	// Keychain may be nil: then there is none.
	Keychain Keychain
	Now      func() time.Time // nil is time.Now
	Rand     func() float64   // from 0 to 1; nil is a real one
	// Lent is called with each secret before its first use, so that it can be
	// redacted from output. It may be nil.
	Lent func(hermes.Secret)
	// Warn is called with problems that stop nothing. It may be nil.
	Warn func(text string, err error)
}

// Store is the file with its pools. It may be used concurrently.
type Store struct {
	cfg Config

	// refreshing is held by the one goroutine that renews a login.
	refreshing chan struct{}
	writing    sync.Mutex // held while the file is changed

	mu       sync.Mutex
	seen     fs.FileInfo // of the file that doc was read from; nil if there was none
	doc      *document   // never changed once it is set
	broken   error       // why the file cannot be read
	shared   map[string]*shared
	fetched  map[string]hermes.Secret // from the keychain, by name
	taken    map[string]taken         // logins of other programs, by their id
	unsaved  map[string]oauth.Token   // renewed, but not yet written, by id
	lent     map[string]bool          // fingerprints that Lent was called with
	reported bool                     // the warning about a damaged file
}

// Open returns the store. It does no I/O.
func Open(cfg Config) *Store {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Float64
	}
	if cfg.Login == nil {
		cfg.Login = func(string) (oauth.Config, bool) { return oauth.Config{}, false }
	}
	if cfg.Getenv == nil {
		cfg.Getenv = func(string) string { return "" }
	}
	if cfg.Lent == nil {
		cfg.Lent = func(hermes.Secret) {}
	}
	if cfg.Warn == nil {
		cfg.Warn = func(string, error) {}
	}
	return &Store{
		cfg: cfg, refreshing: make(chan struct{}, 1), shared: map[string]*shared{},
		fetched: map[string]hermes.Secret{}, taken: map[string]taken{}, unsaved: map[string]oauth.Token{}, lent: map[string]bool{},
	}
}

// Pools lists the names of the pools in the file, sorted.
func (s *Store) Pools() ([]string, error) {
	doc, err := s.load()
	if err != nil {
		return nil, err
	}
	var names []string
	for name, records := range doc.pools {
		if len(records) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Filled lists the pools that have a credential: those of the file, and of given, which has
// credentials from elsewhere. It is sorted.
func (s *Store) Filled(given map[string][]hermes.Key) ([]string, error) {
	names, err := s.Pools()
	if err != nil {
		return nil, err
	}
	for name, keys := range given {
		if s.Pool(name, keys).Any() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Secrets lists the secrets in the file, which must not be shown. An unreadable
// file and a nil Store have none.
func (s *Store) Secrets() []string {
	if s == nil {
		return nil
	}
	doc, err := s.load()
	if err != nil {
		return nil
	}
	var out []string
	for _, records := range doc.pools {
		for _, r := range records {
			out = append(out, r.secret.Reveal(), r.refresh.Reveal())
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// announce calls Lent with a secret before its first use.
func (s *Store) announce(secret hermes.Secret) {
	print := fingerprint(secret)
	s.mu.Lock()
	known := s.lent[print]
	s.lent[print] = true
	s.mu.Unlock()
	if !known {
		s.cfg.Lent(secret)
	}
}

// complain warns once that the file is damaged.
func (s *Store) complain(err error) {
	s.mu.Lock()
	before := s.reported
	s.reported = true
	s.mu.Unlock()
	if !before {
		s.cfg.Warn("credentials", err)
	}
}

// load returns the current content of the file, which it reads only if it has
// changed. A damaged file is an error each time and is never overwritten.
func (s *Store) load() (*document, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.cfg.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.seen, s.doc, s.broken = nil, newDocument(), nil
		return s.doc, nil
	case err != nil:
		return nil, err
	case s.doc != nil && s.seen != nil && os.SameFile(s.seen, info) && s.seen.ModTime().Equal(info.ModTime()) && s.seen.Size() == info.Size():
		return s.doc, s.broken
	}
	raw, err := os.ReadFile(s.cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("read the credentials: %w", err)
	}
	doc, err := decode(raw)
	if err != nil {
		doc = newDocument()
		err = fmt.Errorf("cannot read the credentials in %s (%w); nothing is written there until you fix or move the file", s.cfg.Path, err)
	}
	s.seen, s.doc, s.broken = info, doc, err
	return doc, err
}

// lockTime is how long another process may hold the file.
const lockTime = 10 * time.Second

// update changes the file under its lock, starting from its current content. If
// change returns an error, nothing is written.
func (s *Store) update(ctx context.Context, change func(*document) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.cfg.Path), 0o700); err != nil {
		return fmt.Errorf("create the folder of the credentials: %w", err)
	}
	lock, err := atomicfile.Acquire(ctx, s.cfg.Path, "hermes credentials", lockTime)
	if err != nil {
		return err
	}
	defer lock.Release() // nothing could be done about an error
	doc, err := s.load()
	if err != nil {
		return err
	}
	doc = doc.clone()
	if err := change(doc); err != nil {
		return err
	}
	raw, err := doc.encode()
	if err != nil {
		return err
	}
	return atomicfile.Write(s.cfg.Path, raw, atomicfile.Options{Mode: 0o600, Force: true, Follow: true})
}

// Close writes the usage counts that least_used needs, and what could not be
// written before. A nil Store has nothing to write.
func (s *Store) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	var errs []error
	for id, pool := range s.pendingSecrets() {
		errs = append(errs, s.save(ctx, pool, id))
	}
	for name, sh := range s.pools() {
		if s.cfg.Strategies[name] == LeastUsed && name != "" && sh.counted() {
			errs = append(errs, s.update(ctx, func(doc *document) error {
				sh.settle(doc.pools[name])
				return nil
			}))
		}
	}
	return errors.Join(errs...)
}

func (s *Store) pools() map[string]*shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]*shared, len(s.shared))
	for name, sh := range s.shared {
		out[name] = sh
	}
	return out
}
