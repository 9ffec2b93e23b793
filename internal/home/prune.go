package home

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/order"
)

// Class is one kind of files that accumulate, with its limits. A zero limit means
// no limit.
type Class struct {
	Name   string
	Folder string // relative to the home
	Bytes  int64  // of all files together
	Files  int
	Age    time.Duration // since the last change
}

const (
	day = 24 * time.Hour
	mib = 1 << 20
)

// Classes lists every kind of artefact with its quota. Config backups, checkpoints
// and the database are not in it: their packages prune them.
func Classes() []Class { return slices.Clone(classes) }

var classes = []Class{
	{Name: "logs", Folder: "logs", Bytes: 64 * mib, Files: 200, Age: 90 * day},
	{Name: "images", Folder: "cache/images", Bytes: 512 * mib, Age: 30 * day},
	{Name: "audio", Folder: "cache/audio", Bytes: 256 * mib, Age: 14 * day},
	{Name: "videos", Folder: "cache/videos", Bytes: 1024 * mib, Age: 14 * day},
	{Name: "documents", Folder: "cache/documents", Bytes: 512 * mib, Age: 30 * day},
	{Name: "screenshots", Folder: "cache/screenshots", Bytes: 128 * mib, Age: day},
	{Name: "web", Folder: "cache/web", Bytes: 256 * mib, Files: 5000, Age: 7 * day},
	{Name: "browser downloads", Folder: "cache/browser-downloads", Bytes: 1024 * mib, Age: 14 * day},
	{Name: "citations", Folder: "cache/citations", Bytes: 64 * mib, Age: 30 * day},
	{Name: "spillover", Folder: "cache/spillover", Bytes: 256 * mib, Files: 5000, Age: 7 * day},
	{Name: "terminal", Folder: "cache/terminal", Bytes: 256 * mib, Age: 3 * day},
	{Name: "exec", Folder: "cache/exec", Bytes: 128 * mib, Age: 7 * day},
	{Name: "cron output", Folder: "cron/output", Bytes: 256 * mib, Files: 10000, Age: 90 * day},
	{Name: "terminal notes", Folder: "terminal-sessions", Files: 1000, Age: 30 * day},
	{Name: "snapshots", Folder: "state-snapshots", Bytes: 1024 * mib, Files: 20, Age: 90 * day},
}

const (
	// pruneGrace keeps files that may still be being written.
	pruneGrace = 10 * time.Minute
	// pruneScan limits the memory of one pass; the next pass finds the rest.
	pruneScan = 100_000
)

// Amount counts files: those that a pass removed, or those that exist.
type Amount struct {
	Files int
	Bytes int64
}

type artefact struct {
	path    string
	size    int64
	changed time.Time
}

// Prune removes the files of one class that are over its age, then the oldest
// until the rest is within its quota. Links are neither followed nor removed,
// files younger than ten minutes stay, and a missing folder is not an error.
// Several processes may prune at once.
func (d Dir) Prune(c Class, now time.Time) (Amount, error) {
	root, err := os.OpenRoot(d.Join(filepath.FromSlash(c.Folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return Amount{}, nil
	}
	if err != nil {
		return Amount{}, fmt.Errorf("prune %s: %w", c.Name, plain(err))
	}
	defer root.Close()
	found, total := scan(root)
	count := len(found)
	var freed Amount
	for _, a := range found {
		age := now.Sub(a.changed)
		old := c.Age > 0 && age > c.Age
		over := c.Bytes > 0 && total > c.Bytes || c.Files > 0 && count > c.Files
		if age < pruneGrace || !old && !over {
			break // sorted by age: the rest is younger
		}
		if err := root.Remove(filepath.FromSlash(a.path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // open on Windows, or not ours: the next pass tries again
		}
		total -= a.size
		count--
		freed.Files++
		freed.Bytes += a.size
	}
	return freed, nil
}

// scan lists the regular files below root, oldest first, and sums their sizes.
func scan(root *os.Root) (found []artefact, total int64) {
	_ = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return nil // unreadable folders are skipped, not fatal
		}
		if len(found) == pruneScan {
			return fs.SkipAll
		}
		info, err := e.Info()
		if err != nil {
			return nil
		}
		found = append(found, artefact{path: path, size: info.Size(), changed: info.ModTime()})
		total += info.Size()
		return nil
	})
	order.By(found, func(a, b artefact) int {
		return cmp.Or(a.changed.Compare(b.changed), cmp.Compare(a.path, b.path))
	})
	return found, total
}

// PruneDue prunes every class if the last pass is at least every ago or, after the clock was
// set back, in the future; otherwise it only reads a file's date. It never creates the home.
func (d Dir) PruneDue(now time.Time, every time.Duration) (Amount, error) {
	stamp := d.Join("cache", ".pruned")
	info, err := os.Stat(stamp)
	if err == nil {
		if ago := now.Sub(info.ModTime()); ago >= 0 && ago < every {
			return Amount{}, nil
		}
	}
	if !d.Exists() {
		return Amount{}, nil
	}
	if err := d.stamp(stamp, now); err != nil {
		return Amount{}, err
	}
	var sum Amount
	var faults []error
	for _, c := range Classes() {
		freed, err := d.Prune(c, now)
		sum.Files += freed.Files
		sum.Bytes += freed.Bytes
		faults = append(faults, err)
	}
	return sum, errors.Join(faults...)
}

// stamp is called before the work, so that only one of two processes does it.
func (d Dir) stamp(path string, now time.Time) error {
	if err := d.Make(filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return fmt.Errorf("record the time of pruning: %w", plain(err))
	}
	return os.Chtimes(path, now, now)
}

// Usage counts the files of a class.
func (d Dir) Usage(c Class) (Amount, error) {
	root, err := os.OpenRoot(d.Join(filepath.FromSlash(c.Folder)))
	if errors.Is(err, fs.ErrNotExist) {
		return Amount{}, nil
	}
	if err != nil {
		return Amount{}, fmt.Errorf("count the files of %s: %w", c.Name, plain(err))
	}
	defer root.Close()
	found, total := scan(root)
	return Amount{Files: len(found), Bytes: total}, nil
}
