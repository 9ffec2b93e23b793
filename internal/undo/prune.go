package undo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hermes/internal/atomicfile"
)

// Prune removes changes before a time, and the stored content that no change
// needs any more.
func (j *Journal) Prune(ctx context.Context, before time.Time) error {
	if _, err := os.Stat(j.records()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	lock, err := atomicfile.Acquire(ctx, j.records(), "undo journal", lockWait)
	if err != nil {
		return err
	}
	return errors.Join(j.prune(before), lock.Release())
}

func (j *Journal) prune(before time.Time) error {
	kept, err := j.List(before)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	needed := map[string]bool{}
	for _, c := range slices.Backward(kept) {
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
		for _, f := range c.Files {
			needed[f.Before], needed[f.After] = true, true
		}
	}
	if err := atomicfile.Write(j.records(), b.Bytes(), atomicfile.Options{}); err != nil {
		return err
	}
	return filepath.WalkDir(filepath.Join(j.dir, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() || needed[d.Name()] {
			return err
		}
		return os.Remove(path)
	})
}
