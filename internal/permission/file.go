package permission

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"hermes"
	"hermes/internal/atomicfile"
	"hermes/internal/filestamp"
	"hermes/internal/yamledit"
)

// Name is the name of the file in a home.
const Name = "permissions.yaml"

const (
	section  = "grants"
	lockWait = 5 * time.Second
)

// File is the permissions of one home. It may be used concurrently, also by
// several processes.
type File struct {
	path string
	warn func(problem string)
	now  func() time.Time
	// journal makes a change so that it can be undone; nil just makes it.
	journal func(ctx context.Context, what, path string, write func() error) error

	mu     sync.Mutex
	rules  *Policy // of the file with this stamp, for this home; nil is not read yet
	stamp  filestamp.Stamp
	when   time.Time
	ofHome string
}

// New returns the permissions kept at path; a missing file has none. warn gets
// what cannot be read when a call is judged; nil drops it. now is the clock; nil
// means time.Now.
func New(path string, warn func(problem string), now func() time.Time) *File {
	if warn == nil {
		warn = func(string) {}
	}
	if now == nil {
		now = time.Now
	}
	return &File{path: path, warn: warn, now: now}
}

// Journal has each change made by record, which calls write and keeps what it changed at path,
// so that it can be undone. what is one line for the user. Call it before the file is used.
func (f *File) Journal(record func(ctx context.Context, what, path string, write func() error) error) {
	f.journal = record
}

// Place is the path of the file.
func (f *File) Place() string { return f.path }

// Policy returns the rules of the file. home is the user's home folder. The file is read again only if it
// has changed, so a change holds from the next call on, in every process. A file that cannot be read may
// deny anything, which is among the problems.
func (f *File) Policy(home string) *Policy {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := f.stat()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		stamp := filestamp.Of(info)
		if f.rules != nil && f.ofHome == home && f.stamp == stamp && stamp.Settled(f.when) {
			return f.rules
		}
		f.stamp = stamp
	} else {
		f.stamp = filestamp.Stamp{}
	}
	f.when, f.ofHome = f.now(), home
	src, err := f.read()
	if err != nil {
		f.rules = nil
		return &Policy{Problems: []Problem{{Place: f.path, Text: err.Error(), Stops: true}}}
	}
	f.rules = ReadPolicy(src, f.path, home)
	return f.rules
}

// List returns the grants in the order of the file, and a text for each entry
// that allows nothing because it cannot be read. An error means that the whole
// file cannot be read.
func (f *File) List() (grants []Stored, problems []string, err error) {
	src, err := f.read()
	if err != nil {
		return nil, nil, err
	}
	return f.parse(src)
}

// Covers reports whether a grant of the file covers a call. It is false if the
// file cannot be read.
func (f *File) Covers(call hermes.Grant) bool {
	grants, problems, err := f.List()
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		f.warn(p)
	}
	return f.covered(grants, call)
}

// All lists the grants of the file, none if it cannot be read.
func (f *File) All() []hermes.Grant {
	stored, problems, err := f.List()
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		f.warn(p)
	}
	grants := make([]hermes.Grant, len(stored))
	for i, s := range stored {
		grants[i] = s.Grant
	}
	return grants
}

// Add stores grants. It returns when they are on disk and were read back. What
// another grant covers already is not stored again.
func (f *File) Add(ctx context.Context, grants ...hermes.Grant) error {
	var what []string
	for _, g := range grants {
		what = append(what, "allow "+g.Tool+": "+g.Key)
	}
	err := f.change(ctx, strings.Join(what, ", "), func(src []byte) ([]byte, error) {
		for _, g := range grants {
			old, problems, err := f.parse(src)
			if err != nil {
				return nil, err
			}
			if f.covered(old, g) {
				continue
			}
			if src, err = appendEntry(src, len(old)+len(problems), g); err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
		}
		return src, nil
	})
	if err != nil {
		return err
	}
	now, _, err := f.List()
	if err != nil {
		return err
	}
	for _, g := range grants {
		if !f.covered(now, g) {
			return fmt.Errorf("%s was written but does not have the new permission; look at it with an editor", f.path)
		}
	}
	return nil
}

func (f *File) covered(list []Stored, call hermes.Grant) bool {
	return slices.ContainsFunc(list, func(s Stored) bool { return s.Covers(call, f.now()) })
}

// appendEntry adds an entry to a list that has n.
func appendEntry(src []byte, n int, g hermes.Grant) ([]byte, error) {
	if n == 0 {
		return yamledit.Set(src, []string{section}, []any{fields(g)})
	}
	return yamledit.Set(src, []string{section, strconv.Itoa(n)}, fields(g))
}

// Revoke removes grants by their ids and returns them. If one of the ids is
// unknown, nothing is removed and the error wraps [hermes.ErrNotFound].
func (f *File) Revoke(ctx context.Context, ids ...string) (gone []Stored, err error) {
	err = f.change(ctx, "revoke "+strings.Join(ids, ", "), func(src []byte) ([]byte, error) {
		grants, _, err := f.parse(src)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if !slices.ContainsFunc(grants, func(s Stored) bool { return s.ID == id }) {
				return nil, fmt.Errorf("permission %q: %w", id, hermes.ErrNotFound)
			}
		}
		for _, s := range slices.Backward(grants) {
			if !slices.Contains(ids, s.ID) {
				continue
			}
			if src, err = yamledit.Unset(src, []string{section, strconv.Itoa(s.at)}); err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
			gone = append(gone, s)
		}
		return src, nil
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(gone)
	return gone, nil
}

// SetUnattended says for a grant, and for others that cover the same calls,
// whether it also holds where no user can be asked. An unknown id is an error that
// wraps [hermes.ErrNotFound]; an id of different grants is an error, too.
func (f *File) SetUnattended(ctx context.Context, id string, on bool) error {
	what := "hold " + id + " only where the user can be asked"
	if on {
		what = "hold " + id + " also where no user can be asked"
	}
	return f.change(ctx, what, func(src []byte) ([]byte, error) {
		grants, _, err := f.parse(src)
		if err != nil {
			return nil, err
		}
		grants = slices.DeleteFunc(grants, func(s Stored) bool { return s.ID != id })
		if len(grants) == 0 {
			return nil, fmt.Errorf("permission %q: %w", id, hermes.ErrNotFound)
		}
		for _, s := range grants {
			if s.covered() != grants[0].covered() {
				return nil, fmt.Errorf("permission %q: lines of %s that allow different calls have this id; change it there", id, f.path)
			}
			if src, err = yamledit.Set(src, []string{section, strconv.Itoa(s.at), "unattended"}, on); err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
		}
		return src, nil
	})
}

// change rewrites the file under its lock.
func (f *File) change(ctx context.Context, what string, edit func(src []byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, f.path, "hermes permissions", lockWait)
	if err != nil {
		return err
	}
	defer lock.Release()
	src, err := f.read()
	if err != nil {
		return err
	}
	out, err := edit(src)
	if err != nil || string(out) == string(src) {
		return err
	}
	write := func() error { return atomicfile.Write(f.path, out, atomicfile.Options{Follow: true}) }
	if f.journal == nil {
		return write()
	}
	return f.journal(ctx, what, f.path, write)
}

// stat describes the file. A link to nowhere is no missing file: the rules that it led to may deny.
func (f *File) stat() (fs.FileInfo, error) {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, there := os.Lstat(f.path); there == nil {
			return nil, fmt.Errorf("%s is a link to a file that does not exist; bring that file back, or remove the link", f.path)
		}
	}
	return info, err
}

func (f *File) read() ([]byte, error) {
	info, err := f.stat()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read permissions: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file and allows nothing; move it away", f.path)
	case info.Size() > yamledit.MaxSize: // do not read what cannot be parsed
		return nil, fmt.Errorf("%s is larger than %d MB and allows nothing; remove entries with an editor", f.path, yamledit.MaxSize>>20)
	}
	src, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("read permissions: %w", err)
	}
	return src, nil
}
