package holographic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"hermes/internal/atomicfile"
)

const (
	// mostFacts is how many facts are kept. The one with the least trust goes first, the older of two.
	mostFacts = 5_000
	// longestFact is in characters.
	longestFact = 1_000
	// What feedback changes.
	helpful, unhelpful = 0.05, -0.10
)

// fact is something that is remembered.
type fact struct {
	ID       int       `json:"id"`
	Content  string    `json:"content"`
	Category string    `json:"category"`
	Tags     []string  `json:"tags,omitempty"`
	Entities []string  `json:"entities,omitempty"`
	Trust    float64   `json:"trust"`
	Helpful  int       `json:"helpful,omitempty"` // times
	At       time.Time `json:"at"`

	words []string
	vec   vector
}

// file is the form of the facts on disk.
type file struct {
	Version int     `json:"version"`
	Next    int     `json:"next"`
	Facts   []*fact `json:"facts"`
}

// store is the facts in a file that several processes may use.
type store struct {
	path string

	mu    sync.Mutex
	read  os.FileInfo // when the facts were read; nil before
	facts file
}

// view calls f with the facts as they are now. f keeps none of them, since they are changed in place later.
func (s *store) view(f func(facts []*fact)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return err
	}
	f(s.facts.Facts)
	return nil
}

// change calls f with the facts, and writes what it leaves unless it returns an error.
func (s *store) change(ctx context.Context, f func(all *file) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, s.path, "the facts", 20*time.Second)
	if err != nil {
		return err
	}
	defer lock.Release()
	if err := s.load(); err != nil {
		return err
	}
	err = f(&s.facts)
	if err == nil {
		s.forget()
		var data []byte
		if data, err = json.Marshal(s.facts); err == nil {
			err = atomicfile.Write(s.path, append(data, '\n'), atomicfile.Options{Mode: 0o600})
		}
	}
	s.read = nil // what f left, if it failed, is not what is stored
	return err
}

// forget makes room.
func (s *store) forget() {
	for len(s.facts.Facts) > mostFacts {
		least := 0
		for i, f := range s.facts.Facts {
			if f.Trust < s.facts.Facts[least].Trust {
				least = i
			}
		}
		s.facts.Facts = slices.Delete(s.facts.Facts, least, least+1)
	}
}

// load reads the facts if another process may have changed them. Vectors of those that are the same
// are kept.
func (s *store) load() error {
	info, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.facts, s.read = file{Version: 1, Next: 1}, nil
		return nil
	}
	if err != nil {
		return err
	}
	if s.read != nil && os.SameFile(info, s.read) && info.ModTime().Equal(s.read.ModTime()) && info.Size() == s.read.Size() {
		return nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return err
	}
	var next file
	if err := json.Unmarshal(data, &next); err != nil {
		return fmt.Errorf("the facts in %s are damaged: %w", s.path, err)
	}
	if next.Version != 1 {
		return fmt.Errorf("the facts in %s have the version %d, which this plugin does not know", s.path, next.Version)
	}
	known := map[string]*fact{}
	for _, f := range s.facts.Facts {
		known[f.key()] = f
	}
	for _, f := range next.Facts {
		if old := known[f.key()]; old != nil && old.words != nil {
			f.words, f.vec = old.words, old.vec
			continue
		}
		f.prepare()
	}
	s.facts, s.read = next, info
	return nil
}

// key is the same for facts with the same words and vector.
func (f *fact) key() string {
	return strings.Join([]string{f.Content, strings.Join(f.Entities, "\x00"), strings.Join(f.Tags, "\x00")}, "\x01")
}

// copied is the fact as it is now, for who keeps it.
func (f *fact) copied() *fact { c := *f; return &c }

func (f *fact) prepare() {
	f.words = words(f.Content + " " + strings.Join(f.Tags, " "))
	f.vec = represent(f.words, f.Entities)
}

// add stores a fact. One with the same content gets what is new of it.
func (all *file) add(f fact) *fact {
	for _, old := range all.Facts {
		if strings.EqualFold(old.Content, f.Content) {
			old.At = f.At
			old.Trust = math.Max(old.Trust, f.Trust)
			return old
		}
	}
	f.ID = max(all.Next, 1)
	all.Next = f.ID + 1
	if f.Entities == nil {
		f.Entities = entities(f.Content)
	}
	f.prepare()
	all.Facts = append(all.Facts, &f)
	return &f
}

// find returns a fact by its id.
func (all *file) find(id int) (*fact, error) {
	for _, f := range all.Facts {
		if f.ID == id {
			return f, nil
		}
	}
	return nil, fmt.Errorf("there is no fact %d; the actions search and list show ids", id)
}

func (f *fact) trust(by float64) {
	f.Trust = math.Round(math.Min(1, math.Max(0, f.Trust+by))*100) / 100
}
