package logfile

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// file is a log file that is rotated when it is too large.
type file struct {
	path string
	make func(string) error
	max  int64
	keep int

	mu   sync.Mutex
	f    *os.File
	size int64
	// seen counts the bytes written since the last check whether another process
	// has rotated the file.
	seen int64
}

// lookAfter is how many bytes are written between two checks of the path.
const lookAfter = 64 << 10

func newFile(path string, o Options) *file {
	return &file{path: path, make: o.Make, max: o.MaxBytes, keep: o.Keep}
}

// Write appends one line. slog calls it once per record; O_APPEND keeps the lines
// of several processes complete.
func (f *file) Write(line []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil && f.seen > lookAfter && f.moved() {
		f.shut()
	}
	if f.f == nil {
		if err := f.open(); err != nil {
			return 0, err
		}
	}
	if f.size > 0 && f.size+int64(len(line)) > f.max {
		if err := f.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := f.f.Write(line)
	f.size += int64(n)
	f.seen += int64(n)
	return n, err
}

func (f *file) open() error {
	if f.make != nil {
		if err := f.make(filepath.Dir(f.path)); err != nil {
			return err
		}
	}
	opened, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := opened.Stat()
	if err != nil {
		opened.Close()
		return err
	}
	f.f, f.size, f.seen = opened, info.Size(), 0
	return nil
}

// moved reports whether the path is another file now.
func (f *file) moved() bool {
	f.seen = 0
	ours, err := f.f.Stat()
	if err != nil {
		return true
	}
	f.size = ours.Size() // others may have written to it
	theirs, err := os.Stat(f.path)
	return err != nil || !os.SameFile(ours, theirs)
}

// rotate renames the file and begins a new one. If it cannot be renamed, as when
// another process has it open on Windows, it is truncated once it is far too large,
// because the package limits its size.
func (f *file) rotate() error {
	if f.moved() {
		f.shut()
		return f.open()
	}
	f.shut()
	for i := f.keep - 1; i >= 1; i-- {
		_ = os.Rename(f.rotated(i), f.rotated(i+1))
	}
	var err error
	if f.keep > 0 {
		err = os.Rename(f.path, f.rotated(1))
	} else {
		err = os.Remove(f.path)
	}
	if err := f.open(); err != nil {
		return err
	}
	if err != nil && f.size > 4*f.max {
		f.size = 0
		return f.f.Truncate(0)
	}
	return nil
}

func (f *file) rotated(i int) string { return fmt.Sprintf("%s.%d", f.path, i) }

func (f *file) shut() {
	_ = f.f.Close()
	f.f = nil
}

func (f *file) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.f != nil {
		f.shut()
	}
}
