package hostlist

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	cacheTime = 30 * time.Second // how old a list may be
	maxFile   = 32 << 20         // bytes of one file
	maxErrors = 8                // reported for each file
)

// ErrUnread is in the error of a source that has never been able to read one of its files, so
// that what the file lists is not known.
var ErrUnread = errors.New("it cannot be read")

// Source is a list of entries and files. The files are read again when they are needed and
// the last reading is older than 30 seconds. It may be used concurrently, but its fields must
// not be changed after its first use.
type Source struct {
	// Entries are patterns. One that is not valid is in Err, and the others count.
	Entries []string
	// Files hold one pattern a line. Blank lines and what follows # do not count; of a URL the
	// host does.
	Files []string
	// ReadFile reads a file; nil is os.ReadFile.
	ReadFile func(path string) ([]byte, error)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	mu   sync.Mutex
	read time.Time
	list *List
	last map[string][]Pattern // what a file held when it could be read last
	err  error
}

// Match returns the entry that covers a host, in its plain form, and a port.
func (s *Source) Match(host string, port uint16) (rule string, listed bool) {
	list, _ := s.current()
	p, ok := list.Match(host, port)
	if !ok {
		return "", false
	}
	return p.String(), true
}

// Err says which entries are not valid and which files could not be read. A file that could be
// read before keeps its entries.
func (s *Source) Err() error {
	_, err := s.current()
	return err
}

func (s *Source) current() (*List, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now
	if s.Now != nil {
		now = s.Now
	}
	if t := now(); s.list == nil || t.Sub(s.read) >= cacheTime || t.Before(s.read) {
		s.load()
		s.read = t
	}
	return s.list, s.err
}

func (s *Source) load() {
	list, failed := &List{}, []error(nil)
	for _, e := range s.Entries {
		p, err := entry(e)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		list.Add(p)
	}
	if s.last == nil {
		s.last = map[string][]Pattern{}
	}
	for _, path := range s.Files {
		patterns, err := s.file(path)
		if err != nil {
			failed = append(failed, fmt.Errorf("host list %s: %w", path, err))
		}
		for _, p := range patterns {
			list.Add(p)
		}
	}
	s.list, s.err = list, errors.Join(failed...)
}

// file returns the patterns of a file. If it cannot be read, those of the last time count: a
// file that is being replaced must not unblock everything.
func (s *Source) file(path string) ([]Pattern, error) {
	read := os.ReadFile
	if s.ReadFile != nil {
		read = s.ReadFile
	}
	text, err := read(path)
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("it is longer than %d MB", maxFile>>20)
	}
	if err != nil {
		known, read := s.last[path]
		if !read {
			err = fmt.Errorf("%w: %w", ErrUnread, err)
		}
		return known, err
	}
	var failed []error
	var out []Pattern
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		p, err := entry(line)
		if err != nil && len(failed) < maxErrors {
			failed = append(failed, err)
		}
		if err == nil {
			out = append(out, p)
		}
	}
	s.last[path] = out
	return out, errors.Join(failed...)
}

// entry reads a pattern as people write it into a list of websites: also as a URL.
func entry(text string) (Pattern, error) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if i := strings.IndexAny(text, "/?"); i >= 0 {
		text = text[:i]
	}
	return Parse(text)
}
