package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"hermes/internal/filestamp"
)

// maxScript bounds a file that a hook may name, in bytes.
const maxScript = 64 << 20

// Identity is what the user agrees to: an event, what runs then, and the content of the files that it
// names.
type Identity struct {
	Hash  string
	Event string
	Line  string
	Form  string // what the line is if it is not a command as usual for the event, or which calls a service is told of
	Files []File
}

// File is a file that a hook names.
type File struct {
	Path string `json:"path"`
	Hash string `json:"hash"` // SHA-256 in hex

	stamp filestamp.Stamp // of what was hashed
}

// hashed returns what the user has to agree to with its hash.
func (id Identity) hashed() Identity {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s %d %s\n", len(id.Event), id.Event, len(id.Line), id.Line)
	if id.Form != "" {
		fmt.Fprintf(sum, "form %d %s\n", len(id.Form), id.Form)
	}
	for _, f := range id.Files {
		fmt.Fprintf(sum, "%d %s %s\n", len(f.Path), f.Path, f.Hash)
	}
	id.Hash = hex.EncodeToString(sum.Sum(nil))
	return id
}

// sums remembers the hashes of files. It may be used concurrently.
type sums struct {
	mu   sync.Mutex
	seen map[string]sum
}

type sum struct {
	stamp filestamp.Stamp
	at    time.Time
	hash  string
}

// of returns the hash of a file, which is read again only if it has changed.
func (s *sums) of(path string) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxScript {
		return File{}, fmt.Errorf("%s is no plain file of at most 64 MB", path)
	}
	stamp, now := filestamp.Of(info), time.Now()
	s.mu.Lock()
	was, ok := s.seen[path]
	s.mu.Unlock()
	if ok && was.stamp == stamp && stamp.Settled(was.at) {
		return File{path, was.hash, stamp}, nil
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxScript)); err != nil {
		return File{}, err
	}
	hash := hex.EncodeToString(h.Sum(nil))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]sum{}
	}
	s.seen[path] = sum{stamp, now, hash}
	return File{path, hash, stamp}, nil
}

// unchanged returns an error if a file of an identity is no longer the one that was hashed.
func (s *sums) unchanged(id Identity) error {
	for _, f := range id.Files {
		if now, err := s.of(f.Path); err != nil || now.Hash != f.Hash || now.stamp != f.stamp {
			return fmt.Errorf("%s was changed at the moment when it ran", f.Path)
		}
	}
	return nil
}

// Identify returns what the user has to agree to before a hook runs in a folder. The files that are copied are
// no part of it: the user has trusted those. A nil copied has none.
func (h Entry) Identify(dir, home string, copied func(path string) (string, bool)) (Identity, error) {
	return h.identify(dir, home, &sums{}, copied)
}

func (h Entry) identify(dir, home string, s *sums, copied func(string) (string, bool)) (Identity, error) {
	switch { // a command may have the same text
	case h.Prompt.Text != "":
		return Identity{Event: h.Event, Line: h.Line(), Form: "prompt"}.hashed(), nil
	case h.Command.Line == "":
		return Identity{Event: h.Event, Line: h.Line(), Form: "request"}.hashed(), nil
	}
	p, err := known(h.Command, variables(dir, home))
	if err != nil {
		return Identity{}, err
	}
	var files []File
	for _, path := range p.files(dir) {
		if copied != nil {
			if _, ok := copied(path); ok {
				continue
			}
		}
		f, err := s.of(path)
		if err != nil {
			return Identity{}, err
		}
		files = append(files, f)
	}
	line := h.Line()
	if c := h.Command; len(c.Read) > 0 || !slices.Equal(c.Write, []string{"."}) { // it may read and change more, or less
		line += fmt.Sprintf(" (read %q, write %q)", c.Read, c.Write)
	}
	form := ""
	if e, known := eventOf(h.Event); !h.Command.Words && known && !e.claude { // a row in the form of Claude Code
		form = "shell"
	}
	return Identity{Event: h.Event, Line: line, Form: form, Files: files}.hashed(), nil
}

// variables are those of a command whose values are known before it runs.
func variables(dir, home string) map[string]string {
	v := map[string]string{"CLAUDE_PROJECT_DIR": dir, "HERMES_PROJECT_DIR": dir, "PWD": dir}
	if home != "" {
		v["HOME"] = home
	}
	return v
}
