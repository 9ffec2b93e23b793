package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"hermes/internal/atomicfile"
)

// Cloned says what a new profile takes over from another one.
type Cloned int

// What is taken over.
const (
	Nothing    Cloned = iota
	Personal          // settings, secrets, identity, skills and memory
	AllButPast        // all but history and what can be created again
)

// personal are the parts that [Personal] means.
var personal = []string{"config.yaml", ".env", "SOUL.md", "skills", "memories"}

// past is what no clone copies: what happened, and what can be created again.
var past = []string{
	"state.db", "state.db-wal", "state.db-shm", "state.db-journal", "sessions", "checkpoints", "cron", "logs", "audit", "audit.key", "cache", "hook-copies", "hook-transcripts", "backups",
	"state-snapshots", "terminal-sessions", "profiles", "active_profile", "pending", "pairing", "history", "sandboxes",
}

func (c Cloned) takes(name string) bool {
	switch c {
	case Personal:
		return slices.Contains(personal, name)
	case AllButPast:
		return !slices.Contains(past, name) && filepath.Ext(name) != ".lock" && filepath.Ext(name) != ".pid"
	}
	return false
}

// Create makes the folder of a home and copies into it what it takes over from another
// one. If that fails, nothing of the new home is left.
func (d Dir) Create(from Dir, what Cloned) error {
	if err := d.create(from, what); err != nil {
		return errors.Join(err, os.RemoveAll(d.Path()))
	}
	return nil
}

func (d Dir) create(from Dir, what Cloned) error {
	if err := d.Make(d.Path()); err != nil || what == Nothing {
		return err
	}
	entries, err := os.ReadDir(from.Path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !what.takes(e.Name()) {
			continue
		}
		if err := copyTree(from.Join(e.Name()), d.Join(e.Name())); err != nil {
			return fmt.Errorf("copy %s: %w", e.Name(), err)
		}
	}
	return nil
}

// copyTree copies files and folders with their modes. It follows a link only at
// the top, where users link to their own files. Below, it skips links and
// everything that is not a regular file.
func copyTree(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return copyFile(from, to, info.Mode().Perm())
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir() || path == from:
			return os.MkdirAll(target, 0o700)
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return copyFile(path, target, info.Mode().Perm())
	})
}

func copyFile(from, to string, mode fs.FileMode) error {
	src, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, src, atomicfile.Options{Mode: mode})
}
