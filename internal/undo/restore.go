package undo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"hermes/internal/atomicfile"
	"hermes/internal/patch"
)

// ErrChanged means that a file was changed since by somebody else, so that
// taking the change back would lose that.
var ErrChanged = errors.New("it was changed since")

// Preview tells, as a diff, what taking a change back would do.
func (j *Journal) Preview(c Change) (string, error) {
	var b strings.Builder
	for _, f := range c.Files {
		old, err := j.content(f.After)
		if err != nil {
			return "", err
		}
		now, err := j.content(f.Before)
		if err != nil {
			return "", err
		}
		if !utf8.Valid(old) || !utf8.Valid(now) {
			fmt.Fprintf(&b, "%s: %d bytes become %d\n", f.Path, len(old), len(now))
			continue
		}
		b.WriteString(patch.Unified(nameOf(f.Path, f.After), nameOf(f.Path, f.Before), string(old), string(now)))
	}
	return b.String(), nil
}

func nameOf(path, hash string) string {
	if hash == "" {
		return os.DevNull
	}
	return path
}

func (j *Journal) content(hash string) ([]byte, error) {
	if hash == "" {
		return nil, nil
	}
	data, err := os.ReadFile(j.blob(hash))
	if err != nil {
		return nil, fmt.Errorf("the kept copy is gone: %w", err)
	}
	if hashOf(data) != hash {
		return nil, fmt.Errorf("the kept copy %s is damaged", j.blob(hash))
	}
	return data, nil
}

// Undo takes changes back, the newest first, as they come from List. It stops
// at the first that cannot be taken back; force takes it back although its
// files were changed since. What it does is recorded, so that it can be taken
// back as well.
func (j *Journal) Undo(ctx context.Context, changes []Change, actor string, force bool) (done int, err error) {
	for _, c := range changes {
		if c.Undone {
			continue
		}
		if err := j.undo(ctx, c, actor, force); err != nil {
			return done, fmt.Errorf("take back %q of %s: %w", c.What, c.Time.Local().Format("2006-01-02 15:04"), err)
		}
		done++
	}
	return done, nil
}

func (j *Journal) undo(ctx context.Context, c Change, actor string, force bool) error {
	contents := make([][]byte, len(c.Files))
	for i, f := range c.Files {
		if _, ok := j.source(f.Path); !ok && !filepath.IsAbs(f.Path) {
			return fmt.Errorf("%s is no file, and what keeps it is not at hand", f.Path)
		}
		if now := j.hashNow(f.Path); now != f.After && now != f.Before && !force {
			return fmt.Errorf("%s: %w; look at it first, or add --force", f.Path, ErrChanged)
		}
		var err error
		if contents[i], err = j.content(f.Before); err != nil {
			return err
		}
	}
	back := Change{ID: j.newID(), Time: j.now(), Note: Note{Kind: c.Kind, Actor: actor, What: "undo: " + c.What}, Of: c.ID}
	for _, f := range c.Files {
		back.Files = append(back.Files, File{Path: f.Path, Before: j.hashNow(f.Path), After: f.Before, Mode: f.Mode})
	}
	if force { // what force overwrites can be had back
		if _, err := j.keep(paths(c.Files)); err != nil {
			return err
		}
	}
	for i, f := range c.Files {
		if err := j.put(f, contents[i]); err != nil {
			return err
		}
	}
	return j.add(ctx, back)
}

func paths(files []File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// maxEmptied is how many folders, one above the other, go with the last file
// in them: a skill's own folders and no more.
const maxEmptied = 3

// put gives a file the content it had, or removes it and the folders that are
// empty without it.
func (j *Journal) put(f File, content []byte) error {
	if s, ok := j.source(f.Path); ok {
		return s.Write(f.Path, content)
	}
	if f.Before == "" {
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		dir := filepath.Dir(f.Path)
		for range maxEmptied { // Remove leaves a folder that holds something
			if os.Remove(dir) != nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(f.Path, content, atomicfile.Options{Mode: f.Mode, Force: f.Mode != 0, Follow: true})
}
