package undo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/atomicfile"
	"hermes/internal/order"
)

// Bounds of one change.
const (
	maxFiles = 2000
	maxBytes = 20 << 20 // of one file
	lockWait = 5 * time.Second
)

// Journal is a folder of recorded changes. It may be used concurrently, also by
// several processes.
type Journal struct {
	dir     string
	now     func() time.Time
	sources map[string]Source // by the part of a path before the colon
}

// New makes a journal in a folder. The folder is created with the first change.
// now is the clock; nil is time.Now.
func New(dir string, now func() time.Time) *Journal {
	if now == nil {
		now = time.Now
	}
	return &Journal{dir: dir, now: now}
}

// Note tells the user who changes what.
type Note struct {
	Kind  string `json:"kind"`            // memory, skill, learning, config, permission, trust
	Actor string `json:"actor,omitempty"` // a session's id, "person" or "curator"
	What  string `json:"what"`            // one line
}

// Change is a record of the journal.
type Change struct {
	ID   string    `json:"id"`
	Time time.Time `json:"time"`
	Note
	Files []File `json:"files"`
	// Of is the change that this one undid. Undone is set on that one, unless the undo is
	// undone, too.
	Of     string `json:"of,omitempty"`
	Undone bool   `json:"-"`
	// Open marks the first record of a change whose end was never written. That of an undo says
	// what the files were to become.
	Open bool `json:"open,omitempty"`
}

// File is the change of one file. An empty hash means that the file did not exist.
type File struct {
	Path   string      `json:"path"` // absolute; for a Source: its name, a colon and the record's name
	Before string      `json:"before,omitempty"`
	After  string      `json:"after,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
}

// Record runs fn, which changes files, and records the change. paths are the
// files that fn may change; a folder means all files in it. If fn fails, the
// changes it made before are recorded. A change that changes nothing writes no
// record.
func (j *Journal) Record(ctx context.Context, n Note, paths []string, fn func() error) error {
	before, err := j.keep(paths)
	if err != nil {
		return fmt.Errorf("keep a copy for undo: %w", err)
	}
	c := Change{ID: j.newID(), Time: j.now(), Note: n, Open: true}
	for path, f := range before {
		c.Files = append(c.Files, File{Path: path, Before: f.hash, Mode: f.mode})
	}
	sortFiles(c.Files)
	if err := j.add(ctx, c); err != nil {
		return fmt.Errorf("keep a record for undo: %w", err)
	}
	done := fn()
	after, err := j.keep(paths)
	if err == nil {
		c.Open, c.Files = false, changed(before, after)
		err = j.add(ctx, c)
	}
	return errors.Join(done, err)
}

// state is the current content and mode of a file.
type state struct {
	hash string
	mode fs.FileMode
}

// keep reads files and folders and stores their content.
func (j *Journal) keep(paths []string) (map[string]state, error) {
	out := map[string]state{}
	for _, p := range paths {
		if s, ok := j.source(p); ok {
			if err := j.keepRecord(s, p, out); err != nil {
				return nil, err
			}
			continue
		}
		err := filepath.WalkDir(p, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() || !d.Type().IsRegular():
				return nil
			case len(out) >= maxFiles:
				return fmt.Errorf("%s holds more than %d files", p, maxFiles)
			}
			out[path], err = j.keepFile(path)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (j *Journal) keepFile(path string) (state, error) {
	info, err := os.Stat(path)
	if err != nil {
		return state{}, err
	}
	if info.Size() > maxBytes {
		return state{}, fmt.Errorf("%s is larger than %d MB", path, maxBytes>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return state{}, err
	}
	hash := hashOf(data)
	return state{hash, info.Mode().Perm()}, j.putBlob(hash, data)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (j *Journal) blob(hash string) string { return filepath.Join(j.dir, "blobs", hash[:2], hash) }

func (j *Journal) putBlob(hash string, data []byte) error {
	path := j.blob(hash)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(path, data, atomicfile.Options{})
}

// changed lists the files that differ between two states.
func changed(before, after map[string]state) []File {
	var out []File
	for path, b := range before {
		if a := after[path]; a.hash != b.hash {
			out = append(out, File{Path: path, Before: b.hash, After: a.hash, Mode: b.mode})
		}
	}
	for path, a := range after {
		if _, ok := before[path]; !ok {
			out = append(out, File{Path: path, After: a.hash, Mode: a.mode})
		}
	}
	sortFiles(out)
	return out
}

func sortFiles(list []File) {
	order.By(list, func(a, b File) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
}

func (j *Journal) records() string { return filepath.Join(j.dir, "records.jsonl") }

// add appends a record and syncs it to disk.
func (j *Journal) add(ctx context.Context, c Change) error {
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	lock, err := atomicfile.Acquire(ctx, j.records(), "undo journal", lockWait)
	if err != nil {
		return err
	}
	line, err := json.Marshal(c)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	f, err := os.OpenFile(j.records(), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return errors.Join(err, lock.Release())
	}
	return errors.Join(appendLine(f, line), f.Sync(), f.Close(), lock.Release())
}

// appendLine adds a whole line or, if it fails, nothing. A line that a crash cut stays a line of
// its own.
func appendLine(f *os.File, line []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	if last := make([]byte, 1); size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.WriteAt(append(line, '\n'), size); err != nil { // such as on a full disk
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// List returns the changes since a time, newest first. If the end of a change
// was never written, for example after a crash, the files' current content
// counts as its result. Lines that cannot be read are skipped.
func (j *Journal) List(since time.Time) ([]Change, error) {
	raw, err := os.ReadFile(j.records())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("read the undo journal: %w", err)
	}
	byID := map[string]*Change{}
	var order []string
	lines := bufio.NewScanner(bytes.NewReader(raw))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var c Change
		if json.Unmarshal(lines.Bytes(), &c) != nil || c.ID == "" {
			continue
		}
		if byID[c.ID] == nil {
			order = append(order, c.ID)
		}
		byID[c.ID] = &c
	}
	var out []Change
	for _, id := range slices.Backward(order) {
		c := byID[id]
		if c.Open {
			j.settle(c)
		}
		if o := byID[c.Of]; o != nil && !c.Undone { // an undo that is undone does not count
			o.Undone = true
		}
		if len(c.Files) > 0 && !c.Time.Before(since) {
			out = append(out, *c)
		}
	}
	return out, lines.Err()
}

// settle completes a change whose end was never written. An undo that did not do all leaves
// its change to be undone.
func (j *Journal) settle(c *Change) {
	var kept []File
	for _, f := range c.Files {
		now := j.hashNow(f.Path)
		if now != f.After {
			c.Of = ""
		}
		f.After = now
		if f.After != f.Before {
			kept = append(kept, f)
		}
	}
	c.Files = kept
}

// hashNow returns the hash of a file's current content, "" if there is none.
func (j *Journal) hashNow(path string) string {
	data, err := j.read(path)
	if err != nil || data == nil {
		return ""
	}
	return hashOf(data)
}

func (j *Journal) newID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %p", j.now().UnixNano(), os.Getpid(), &struct{ byte }{}))
	return j.now().UTC().Format("20060102T150405") + "-" + hex.EncodeToString(sum[:3])
}
