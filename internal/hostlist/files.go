package hostlist

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// Fresh is how long the content of files counts as current.
	Fresh = 30 * time.Second
	// maxFile bounds a list in a file, in bytes.
	maxFile = 32 << 20
	// maxLine bounds one of its lines, in bytes.
	maxLine = 4 << 10
)

// Files is a list in files that people change while the program runs. It reads them
// when it is first asked, and again when what it read is older than Fresh. Its methods
// may be called concurrently.
type Files struct {
	paths []string
	now   func() time.Time

	mu    sync.Mutex
	read  time.Time
	lists []List
	err   error // a file could not be read
	bad   error // lines that are no rules
}

// NewFiles makes a list of all rules of some files. now is the clock.
func NewFiles(now func() time.Time, paths ...string) *Files {
	return &Files{paths: paths, now: now}
}

// Find returns the rule that matches a host and port. It fails if a file cannot be
// read, since its rules are unknown then.
func (f *Files) Find(host string, port uint16) (Rule, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	if f.err != nil {
		return Rule{}, false, f.err
	}
	for _, l := range f.lists {
		if r, ok := l.Find(host, port); ok {
			return r, true, nil
		}
	}
	return Rule{}, false, nil
}

// Check reads the files if it is time, and names files that cannot be read and lines
// that are no rules. Such lines do not keep the others from counting.
func (f *Files) Check() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refresh()
	return errors.Join(f.err, f.bad)
}

// refresh reads the files. The caller holds mu.
func (f *Files) refresh() {
	now := f.now()
	if age := now.Sub(f.read); !f.read.IsZero() && age >= 0 && age < Fresh {
		return
	}
	f.read, f.lists, f.err, f.bad = now, nil, nil, nil
	for _, path := range f.paths {
		l, bad, err := readFile(path)
		f.lists = append(f.lists, l)
		f.err, f.bad = errors.Join(f.err, err), errors.Join(f.bad, bad)
	}
}

// readFile reads the rules of a file. bad names its lines that are no rules.
func readFile(path string) (l List, bad, err error) {
	info, err := os.Stat(path) // opening a pipe would wait
	if err != nil {
		return List{}, nil, fmt.Errorf("read the host list: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return List{}, nil, fmt.Errorf("read the host list %s: it is not a regular file of at most %d MB", path, maxFile>>20)
	}
	file, err := os.Open(path)
	if err != nil {
		return List{}, nil, fmt.Errorf("read the host list: %w", err)
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxFile))
	lines.Buffer(nil, maxLine)
	l, bad = parse(path, func(yield func(string) bool) {
		for lines.Scan() && yield(lines.Text()) {
		}
	})
	if err := lines.Err(); err != nil {
		return List{}, nil, fmt.Errorf("read the host list %s: %w", path, err)
	}
	return l, bad, nil
}
