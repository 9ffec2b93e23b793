package object

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"hermes/internal/atomicfile"
)

// ErrDamaged means that what is stored is not what was stored.
var ErrDamaged = errors.New("it is damaged")

// ErrMissing means that a content is not stored.
var ErrMissing = errors.New("it is not stored")

// Store is an open folder of packs. Its methods may be called concurrently, except Sweep and
// Close. What is added can be read at once, and is kept when Commit returns.
type Store struct {
	folder  string
	packs   []*pack
	damaged []string // packs that cannot be read

	mu       sync.Mutex // guards the writer and what is pending
	w        *writer
	pending  map[Hash]entry
	deflates sync.Pool // of *deflater
}

// Open opens a folder and makes it if it is missing. It removes what an interrupted writer
// left. A damaged pack does not fail it: its contents are missing, and Damaged names it.
func Open(folder string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	s := &Store{folder: folder, pending: map[Hash]entry{}}
	if err := s.load(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *Store) load() error {
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(s.folder, e.Name())
		switch {
		case strings.HasSuffix(e.Name(), unfinishedExt):
			if err := os.Remove(path); err != nil {
				return err
			}
		case strings.HasSuffix(e.Name(), packExt):
			p, err := openPack(path)
			switch {
			case errors.Is(err, ErrDamaged), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
				s.damaged = append(s.damaged, e.Name())
			case err != nil:
				return err
			default:
				s.packs = append(s.packs, p)
			}
		}
	}
	return nil
}

// Close discards what was not committed and closes the packs.
func (s *Store) Close() error {
	s.Discard()
	for _, p := range s.packs {
		p.file.Close()
	}
	s.packs = nil
	return nil
}

// Damaged returns the names of packs that cannot be read.
func (s *Store) Damaged() []string { return s.damaged }

// Size returns the bytes that the packs take.
func (s *Store) Size() int64 {
	var sum int64
	for _, p := range s.packs {
		sum += p.size
	}
	return sum
}

// Packs returns the number of packs.
func (s *Store) Packs() int { return len(s.packs) }

// Has reports whether a content is stored.
func (s *Store) Has(h Hash) bool {
	for _, p := range s.packs {
		if _, ok := p.find(h); ok {
			return true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.pending[h]
	return ok
}

// find returns where a content is: in a pack, or in the one being written.
func (s *Store) find(h Hash) (entry, io.ReaderAt, bool) {
	for _, p := range s.packs {
		if e, ok := p.find(h); ok {
			return e, p.file, true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.pending[h]; ok {
		if err := s.w.flush(); err != nil {
			return entry{}, nil, false
		}
		return e, s.w.file, true
	}
	return entry{}, nil, false
}

// StoredSize returns the bytes that a content takes in its pack, 0 if it is not stored.
func (s *Store) StoredSize(h Hash) int64 {
	e, _, _ := s.find(h)
	return e.stored
}

// Read returns a content. The error is ErrMissing or ErrDamaged if it is not as it was.
func (s *Store) Read(h Hash) ([]byte, error) {
	var b bytes.Buffer
	if err := s.Copy(&b, h); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Copy writes a content to w. If it returns an error, what it wrote is worthless.
func (s *Store) Copy(w io.Writer, h Hash) error {
	e, from, ok := s.find(h)
	if !ok {
		return fmt.Errorf("content %.12s: %w", h, ErrMissing)
	}
	var r io.Reader = io.NewSectionReader(from, e.at, e.stored)
	if e.method == deflated {
		r = flate.NewReader(r)
	}
	sum := sha256.New()
	out := &marked{w: w}
	n, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(r, e.size+1))
	if out.failed {
		return err
	}
	if err != nil || n != e.size || Hash(sum.Sum(nil)) != h {
		return fmt.Errorf("content %.12s: %w", h, ErrDamaged)
	}
	return nil
}

// marked remembers that the writer failed, which says nothing about the content.
type marked struct {
	w      io.Writer
	failed bool
}

func (m *marked) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.failed = m.failed || err != nil
	return n, err
}

// syncFolder makes new and removed names in the folder durable.
func (s *Store) syncFolder() error {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return atomicfile.SyncFolder(root)
}
