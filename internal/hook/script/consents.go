package script

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/filestamp"
)

// Consent is one hook that the user has agreed to.
type Consent struct {
	Hash  string    `json:"hash"` // of [Identity]
	Event string    `json:"event"`
	Line  string    `json:"line"`
	Form  string    `json:"form,omitempty"`
	Files []File    `json:"files,omitempty"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
}

// kept is the file.
type kept struct {
	Version int       `json:"version"`
	Hooks   []Consent `json:"hooks"`
}

const (
	storeVersion = 1
	maxStore     = 4 << 20 // bytes
	maxConsents  = 2000
	lockWait     = 5 * time.Second
)

// Consents keeps in a file which hooks the user has agreed to. It may be used concurrently, also by
// several processes; a change holds from the next event in each of them. A file of which anything is
// not understood agrees to nothing.
type Consents struct {
	path    string
	now     func() time.Time
	journal func(ctx context.Context, what, path string, write func() error) error // nil keeps nothing

	mu    sync.Mutex
	last  []Consent
	stamp filestamp.Stamp
	when  time.Time // last was read; zero is never
}

// NewConsents returns those kept at path; a missing file has none. now is the clock; nil means
// time.Now.
func NewConsents(path string, now func() time.Time) *Consents {
	if now == nil {
		now = time.Now
	}
	return &Consents{path: path, now: now}
}

// Journal has each change made by record, which calls write and keeps what it changed at path. Call it
// before the consents are used.
func (c *Consents) Journal(record func(ctx context.Context, what, path string, write func() error) error) {
	c.journal = record
}

// Place is the path of the file.
func (c *Consents) Place() string { return c.path }

// Has reports whether the user has agreed to exactly this. With an error it is false.
func (c *Consents) Has(id Identity) (bool, error) {
	list, err := c.known()
	return id.Hash != "" && slices.ContainsFunc(list, func(o Consent) bool { return o.Hash == id.Hash }), err
}

// Earlier returns the newest consent to the same line at the same event with other files, if there is
// one: the files have changed since.
func (c *Consents) Earlier(id Identity) (Consent, bool) {
	list, err := c.known()
	if err != nil {
		return Consent{}, false
	}
	for _, o := range slices.Backward(list) {
		if o.Event == id.Event && o.Line == id.Line && o.Hash != id.Hash {
			return o, true
		}
	}
	return Consent{}, false
}

// List returns all, the oldest first.
func (c *Consents) List() ([]Consent, error) {
	list, err := c.known()
	return slices.Clone(list), err
}

// Agree keeps that the user has agreed. by says how. It returns when that is on disk.
func (c *Consents) Agree(ctx context.Context, by string, ids ...Identity) error {
	return c.change(ctx, "agree to hooks", func(list []Consent) ([]Consent, error) {
		for _, id := range ids {
			if slices.ContainsFunc(list, func(o Consent) bool { return o.Hash == id.Hash }) {
				continue
			}
			list = append(list, Consent{id.Hash, id.Event, id.Line, id.Form, id.Files, by, c.now().UTC().Truncate(time.Second)})
		}
		if len(list) > maxConsents {
			return nil, fmt.Errorf("%s has %d hooks; remove some with `hermes hooks revoke`", c.path, len(list))
		}
		return list, nil
	})
}

// Revoke forgets the consents that a func picks, and returns them.
func (c *Consents) Revoke(ctx context.Context, picked func(Consent) bool) (gone []Consent, err error) {
	err = c.change(ctx, "revoke hooks", func(list []Consent) ([]Consent, error) {
		return slices.DeleteFunc(slices.Clone(list), func(o Consent) bool {
			if picked(o) {
				gone = append(gone, o)
				return true
			}
			return false
		}), nil
	})
	return gone, err
}

// known returns the consents, which are read again only if the file has changed.
func (c *Consents) known() ([]Consent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Lstat(c.path)
	stamp := filestamp.Of(info)
	if (err == nil || errors.Is(err, fs.ErrNotExist)) && !c.when.IsZero() && c.stamp == stamp && stamp.Settled(c.when) {
		return c.last, nil
	}
	when := time.Now()
	c.last, err = c.read()
	if c.stamp, c.when = stamp, when; err != nil {
		c.last, c.when = nil, time.Time{}
	}
	return c.last, err
}

func (c *Consents) read() ([]Consent, error) {
	info, err := os.Lstat(c.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read which hooks may run: %w", err)
	case !info.Mode().IsRegular():
		return nil, c.unusable(errors.New("it is not a regular file"))
	case info.Size() > maxStore:
		return nil, c.unusable(errors.New("it is too large"))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, c.unusable(fmt.Errorf("other users can write it; run chmod 600 %s", c.path))
	}
	src, err := os.ReadFile(c.path)
	if err != nil {
		return nil, fmt.Errorf("read which hooks may run: %w", err)
	}
	if len(src) == 0 {
		return nil, nil
	}
	var file kept
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, c.unusable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, c.unusable(errors.New("something follows the list"))
	}
	if file.Version != storeVersion {
		return nil, c.unusable(fmt.Errorf("its version %d is not known", file.Version))
	}
	for _, o := range file.Hooks { // who changed one may have changed the others
		if raw, err := hex.DecodeString(o.Hash); err != nil || len(raw) != 32 || (Identity{Event: o.Event, Line: o.Line, Form: o.Form, Files: o.Files}).hashed().Hash != o.Hash {
			return nil, c.unusable(fmt.Errorf("the hash of %q is not its own", o.Line))
		}
	}
	return file.Hooks, nil
}

func (c *Consents) unusable(err error) error {
	return fmt.Errorf("%s agrees to no hook: %w. Move it away to begin with none", c.path, err)
}

// change rewrites the file under its lock.
func (c *Consents) change(ctx context.Context, what string, edit func([]Consent) ([]Consent, error)) error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, c.path, "hermes hooks", lockWait)
	if err != nil {
		return err
	}
	defer lock.Release()
	list, err := c.List()
	if err != nil {
		return err
	}
	if list, err = edit(list); err != nil {
		return err
	}
	out, err := json.MarshalIndent(kept{storeVersion, list}, "", "  ")
	if err != nil {
		return err
	}
	write := func() error { return atomicfile.Write(c.path, append(out, '\n'), atomicfile.Options{}) }
	if c.journal == nil {
		return write()
	}
	return c.journal(ctx, what, c.path, write)
}

// Upstream reports whether a home has the list of another Hermes, which says which commands may run
// but not which content their scripts have: it agrees to nothing here.
func Upstream(home string) bool {
	raw, err := os.ReadFile(filepath.Join(home, "shell-hooks-allowlist.json"))
	return err == nil && strings.Contains(string(raw), "approvals")
}
