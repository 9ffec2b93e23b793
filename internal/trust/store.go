package trust

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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
	"unicode/utf8"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/filestamp"
	"hermes/internal/order"
	"hermes/internal/text"
)

// State says what the user decided about a version of a project's settings.
type State string

// The states. Only Trusted lets settings allow something.
const (
	Unknown  State = ""
	Trusted  State = "trusted"
	Declined State = "declined"
)

// Decision is what the user decided about a project.
type Decision struct {
	State State
	By    string
	At    time.Time
	// Before is the version that was trusted last, if it is another one than this; nil
	// if none was.
	Before *Version
}

// Version is one version of a project's settings that was trusted.
type Version struct {
	Hash  string    `json:"hash"`
	At    time.Time `json:"at"`
	Files []Kept    `json:"files"`
}

// Kept is a file of a trusted version.
type Kept struct {
	Path string `json:"path"`
	Hash string `json:"hash"`
	// Text is the content, "" if it is too long to keep.
	Text string `json:"text,omitempty"`
}

// Entry is the newest decision about one project.
type Entry struct {
	Dir   string    `json:"dir"` // as [Project.Dir]
	Root  string    `json:"root"`
	Hash  string    `json:"hash"`
	State State     `json:"state"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Last  *Version  `json:"last,omitempty"` // the version that was trusted last
}

// content is the file.
type content struct {
	Version  int     `json:"version"`
	Projects []Entry `json:"projects"`
}

const (
	version    = 1
	maxStore   = 8 << 20 // bytes
	maxText    = 16 << 10
	maxTexts   = 64 << 10 // bytes of the texts of one version
	maxEntries = 2000
	lockWait   = 5 * time.Second
)

// Store keeps the decisions of one home in a file. It may be used concurrently, also by
// several processes; a change holds from the next call in each of them. A file with
// anything in it that is not understood trusts nothing.
type Store struct {
	path    string
	now     func() time.Time
	journal func(ctx context.Context, what, path string, write func() error) error // nil keeps nothing

	mu    sync.Mutex
	last  []Entry // of the file with this stamp; it is not changed
	stamp filestamp.Stamp
	when  time.Time // last was read; zero is never
}

// New returns the decisions kept at path; a missing file has none. now is the clock; nil
// means time.Now.
func New(path string, now func() time.Time) *Store {
	if now == nil {
		now = time.Now
	}
	return &Store{path: path, now: now}
}

// Journal has each change made by record, which calls write and keeps what it changed at path,
// so that it can be undone. what is one line for the user. Call it before the store is used.
func (s *Store) Journal(record func(ctx context.Context, what, path string, write func() error) error) {
	s.journal = record
}

// Place is the path of the file.
func (s *Store) Place() string { return s.path }

// Decided returns what the user decided about exactly these settings. Only the newest
// decision about a project counts, so an older version that comes back is unknown. With
// an error the state is Unknown.
func (s *Store) Decided(p Project) (Decision, error) {
	list, err := s.known()
	if err != nil {
		return Decision{}, err
	}
	i := slices.IndexFunc(list, func(e Entry) bool { return e.Dir == p.Dir && e.Root == p.Root })
	if i < 0 || p.Empty() {
		return Decision{}, nil
	}
	e := list[i]
	d := Decision{Before: e.Last}
	if p.Hash != "" && p.Hash == e.Hash {
		d.State, d.By, d.At = e.State, e.By, e.At
	}
	if d.State == Trusted {
		d.Before = nil
	}
	return d, nil
}

// List returns the decisions, sorted by folder.
func (s *Store) List() ([]Entry, error) {
	list, err := s.known()
	return slices.Clone(list), err
}

// known returns the decisions, which are read again only if the file has changed.
func (s *Store) known() ([]Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Lstat(s.path)
	stamp := filestamp.Of(info)
	if (err == nil || errors.Is(err, fs.ErrNotExist)) && !s.when.IsZero() && s.stamp == stamp && stamp.Settled(s.when) {
		return s.last, nil
	}
	when := s.now()
	src, err := s.read()
	if err == nil {
		s.last, err = s.parse(src)
	}
	if s.stamp, s.when = stamp, when; err != nil {
		s.last, s.when = nil, time.Time{}
	}
	return s.last, err
}

// Set keeps a decision about a project, in place of an earlier one. by says who decided.
// It returns when the decision is on disk and was read back.
func (s *Store) Set(ctx context.Context, p Project, state State, by string) error {
	switch {
	case state != Trusted && state != Declined:
		return fmt.Errorf("keep a decision about %s: %q is no decision", p.Dir, state)
	case p.Empty():
		return fmt.Errorf("%s: %w", p.Root, ErrNoSettings)
	case p.Hash == "":
		return fmt.Errorf("%s: not all project settings could be read, so nothing was decided", p.Root)
	}
	what := "trust the settings of " + p.Root
	if state == Declined {
		what = "decline the settings of " + p.Root
	}
	err := s.change(ctx, what, func(list []Entry) ([]Entry, error) {
		e := Entry{Dir: p.Dir, Root: p.Root, Hash: p.Hash, State: state, By: by, At: s.now().UTC().Truncate(time.Second)}
		if i := slices.IndexFunc(list, func(old Entry) bool { return old.Dir == p.Dir }); i >= 0 {
			e.Last = list[i].Last
			list = slices.Delete(list, i, i+1)
		}
		if state == Trusted {
			e.Last = &Version{Hash: p.Hash, At: e.At, Files: keep(p.Files)}
		}
		if len(list) >= maxEntries {
			return nil, fmt.Errorf("%s has %d projects; remove some with `hermes trust revoke`", s.path, len(list))
		}
		return append(list, e), nil
	})
	if err != nil {
		return err
	}
	if d, err := s.Decided(p); err != nil || d.State != state {
		return errors.Join(fmt.Errorf("%s was written but does not have the new decision; look at it with an editor", s.path), err)
	}
	return nil
}

// ErrNoSettings means that a folder has no project settings.
var ErrNoSettings = errors.New("there are no project settings, so there is nothing to trust")

// Revoke forgets the decisions about projects, by [Entry.Dir], and returns them. If one
// of them has no decision, nothing is changed and the error wraps [hermes.ErrNotFound].
func (s *Store) Revoke(ctx context.Context, dirs ...string) (gone []Entry, err error) {
	err = s.change(ctx, "forget what was decided about "+strings.Join(dirs, ", "), func(list []Entry) ([]Entry, error) {
		for _, dir := range dirs {
			if !slices.ContainsFunc(list, func(e Entry) bool { return e.Dir == dir }) {
				return nil, fmt.Errorf("no decision about %s: %w", dir, hermes.ErrNotFound)
			}
		}
		return slices.DeleteFunc(list, func(e Entry) bool {
			hit := slices.Contains(dirs, e.Dir)
			if hit {
				gone = append(gone, e)
			}
			return hit
		}), nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// keep makes the files of a version.
func keep(files []File) []Kept {
	var all []Kept
	left := maxTexts
	for _, f := range files {
		sum := sha256.Sum256(f.Content)
		k := Kept{Path: f.Path, Hash: hex.EncodeToString(sum[:])}
		if n := len(f.Content); n <= maxText && n <= left && utf8.Valid(f.Content) {
			k.Text = string(f.Content)
			left -= n
		}
		all = append(all, k)
	}
	return all
}

// change rewrites the file under its lock.
func (s *Store) change(ctx context.Context, what string, edit func([]Entry) ([]Entry, error)) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, s.path, "hermes trust", lockWait)
	if err != nil {
		return err
	}
	defer lock.Release()
	list, err := s.List()
	if err != nil {
		return err
	}
	if list, err = edit(list); err != nil {
		return err
	}
	order.By(list, func(a, b Entry) int { return cmp.Compare(a.Dir, b.Dir) })
	out, err := json.MarshalIndent(content{version, list}, "", "  ")
	if err != nil {
		return err
	}
	if len(out) >= maxStore { // it could not be read again
		return fmt.Errorf("%s would be larger than %s; remove projects with `hermes trust revoke`", s.path, text.Size(maxStore))
	}
	write := func() error { return atomicfile.Write(s.path, append(out, '\n'), atomicfile.Options{}) }
	if s.journal == nil {
		return write()
	}
	return s.journal(ctx, what, s.path, write)
}

func (s *Store) read() ([]byte, error) {
	info, err := os.Lstat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read what is trusted: %w", err)
	case !info.Mode().IsRegular():
		return nil, s.unusable(errors.New("it is not a regular file"))
	case info.Size() > maxStore:
		return nil, s.unusable(fmt.Errorf("it is larger than %s", text.Size(maxStore)))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0:
		return nil, s.unusable(fmt.Errorf("other users can write it; run chmod 600 %s", s.path))
	}
	src, err := os.ReadFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("read what is trusted: %w", err)
	}
	return src, nil
}

func (s *Store) unusable(err error) error {
	return fmt.Errorf("%s trusts nothing: %w. Move it away to begin with none", s.path, err)
}

// parse reads the file. One wrong entry makes all of it unusable: who changed that may
// have changed the others.
func (s *Store) parse(src []byte) ([]Entry, error) {
	if len(src) == 0 {
		return nil, nil
	}
	var c content
	d := json.NewDecoder(bytes.NewReader(src))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, s.unusable(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, s.unusable(errors.New("something follows the list"))
	}
	if c.Version != version {
		return nil, s.unusable(fmt.Errorf("its version %d is not known", c.Version))
	}
	seen := map[string]bool{}
	for _, e := range c.Projects {
		if err := e.check(); err != nil {
			return nil, s.unusable(fmt.Errorf("%q: %w", e.Dir, err))
		}
		if seen[e.Dir] {
			return nil, s.unusable(fmt.Errorf("%q is there twice", e.Dir))
		}
		seen[e.Dir] = true
	}
	return c.Projects, nil
}

func (e Entry) check() error {
	rel, err := filepath.Rel(e.Root, e.Dir)
	switch {
	case !filepath.IsAbs(e.Dir) || !filepath.IsAbs(e.Root) || filepath.Clean(e.Dir) != e.Dir || filepath.Clean(e.Root) != e.Root || err != nil || !filepath.IsLocal(rel):
		return errors.New("it is not a folder of its project")
	case e.State != Trusted && e.State != Declined:
		return fmt.Errorf("%q is no decision", e.State)
	case !isHash(e.Hash) || e.Last != nil && !isHash(e.Last.Hash):
		return errors.New("the hash is not one")
	case e.State == Trusted && (e.Last == nil || e.Last.Hash != e.Hash):
		return errors.New("what was trusted is missing")
	}
	return nil
}

func isHash(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha256.Size && strings.ToLower(text) == text
}
