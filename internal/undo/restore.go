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

// ErrChanged means that something else changed a file since, so that undoing
// the change would lose that.
var ErrChanged = errors.New("the file has changed since")

// Preview returns a diff for each change that shows what Undo would do, in the
// same order. It says which files changed since and shows what would be lost.
func (j *Journal) Preview(changes []Change) ([]string, error) {
	var out []string
	content := map[string][]byte{} // by path, after the earlier ones are undone
	for _, c := range changes {
		var b strings.Builder
		for _, f := range c.Files {
			old, ok := content[f.Path]
			if !ok {
				var err error
				if old, err = j.read(f.Path); err != nil {
					return nil, err
				}
			}
			t, err := j.target(c, f, old)
			if err != nil {
				return nil, err
			}
			content[f.Path] = t.data
			if t.lost {
				fmt.Fprintf(&b, "%s has changed since; --force discards that, too:\n", f.Path)
			}
			if !utf8.Valid(old) || !utf8.Valid(t.data) {
				fmt.Fprintf(&b, "%s: %d bytes become %d\n", f.Path, len(old), len(t.data))
				continue
			}
			to := f.Path
			if t.gone {
				to = os.DevNull
			}
			b.WriteString(patch.Unified(nameOf(f.Path, hashIfAny(old)), to, string(old), string(t.data)))
		}
		out = append(out, b.String())
	}
	return out, nil
}

// target is what a file becomes when a change is undone.
type target struct {
	data []byte
	gone bool // the file is removed
	lost bool // later changes of the file are lost
}

// target computes what a file with the content now becomes. Entries of memory
// are independent, so one can be undone below later ones. A part of a skill or
// of the settings may be meaningless without the later changes.
func (j *Journal) target(c Change, f File, now []byte) (target, error) {
	before, err := j.content(f.Before)
	if err != nil {
		return target{}, err
	}
	t := target{data: before, gone: f.Before == ""}
	if hash := hashIfAny(now); hash == f.After || hash == f.Before {
		return t, nil
	}
	if c.Kind == "memory" && f.After != "" && len(now) > 0 {
		after, err := j.content(f.After)
		if err != nil {
			return target{}, err
		}
		if text, ok := without(string(before), string(after), string(now)); ok {
			return target{data: []byte(text)}, nil
		}
	}
	t.lost = true
	return t, nil
}

// hashIfAny returns the hash of a content as records have it: "" for a file that
// does not exist.
func hashIfAny(data []byte) string {
	if data == nil {
		return ""
	}
	return hashOf(data)
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
		return nil, fmt.Errorf("the stored copy is missing: %w", err)
	}
	if hashOf(data) != hash {
		return nil, fmt.Errorf("the stored copy %s is damaged", j.blob(hash))
	}
	return data, nil
}

// Undo undoes changes, newest first, as List returns them. It stops at the
// first that cannot be undone; force undoes it although its files have changed
// since. The undo is recorded, so that it can be undone as well, also if it fails in the middle:
// the change itself can be undone again then.
func (j *Journal) Undo(ctx context.Context, changes []Change, actor string, force bool) (done int, err error) {
	for _, c := range changes {
		if c.Undone {
			continue
		}
		if err := j.undo(ctx, c, actor, force); err != nil {
			return done, fmt.Errorf("undo %q of %s: %w", c.What, c.Time.Local().Format("2006-01-02 15:04"), err)
		}
		done++
	}
	return done, nil
}

func (j *Journal) undo(ctx context.Context, c Change, actor string, force bool) error {
	targets := make([]target, len(c.Files))
	back := Change{ID: j.newID(), Time: j.now(), Note: Note{Kind: c.Kind, Actor: actor, What: "undo: " + c.What}, Of: c.ID}
	for i, f := range c.Files {
		if _, ok := j.source(f.Path); !ok && !filepath.IsAbs(f.Path) {
			return fmt.Errorf("%s is not a file, and its source is not available", f.Path)
		}
		now, err := j.read(f.Path)
		if err != nil && !force {
			return err
		}
		if targets[i], err = j.target(c, f, now); err != nil {
			return err
		}
		if targets[i].lost && !force {
			return fmt.Errorf("%s: %w; check it first, or use --force", f.Path, ErrChanged)
		}
		made := File{Path: f.Path, Before: j.hashNow(f.Path), After: f.Before, Mode: f.Mode}
		if t := targets[i]; !t.gone {
			made.After = hashOf(t.data)
		}
		back.Files = append(back.Files, made)
	}
	before, err := j.keep(paths(c.Files)) // so that the overwritten content can be restored
	if err != nil {
		return err
	}
	for _, t := range targets {
		if !t.gone {
			if err := j.putBlob(hashOf(t.data), t.data); err != nil {
				return err
			}
		}
	}
	back.Open = true
	if err := j.add(ctx, back); err != nil {
		return fmt.Errorf("keep a record for undo: %w", err)
	}
	back.Open = false
	for i, f := range c.Files {
		if err := j.put(f, targets[i]); err != nil {
			return errors.Join(err, j.addPart(context.WithoutCancel(ctx), back, before))
		}
	}
	return j.add(context.WithoutCancel(ctx), back)
}

// addPart records an undo that failed in the middle. It names no change that it undid.
func (j *Journal) addPart(ctx context.Context, back Change, before map[string]state) error {
	after, err := j.keep(paths(back.Files))
	if err != nil {
		return err
	}
	back.Of, back.Files = "", changed(before, after)
	return j.add(ctx, back)
}

func paths(files []File) []string {
	out := make([]string, len(files))
	for i, f := range files {
		out[i] = f.Path
	}
	return out
}

// maxEmptied bounds the nested empty folders that are removed with their last
// file: a skill's own folders and no more.
const maxEmptied = 3

// put restores a file's content, or removes the file and the folders that are
// empty without it.
func (j *Journal) put(f File, t target) error {
	if s, ok := j.source(f.Path); ok {
		return s.Write(f.Path, t.data)
	}
	if t.gone {
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		dir := filepath.Dir(f.Path)
		for range maxEmptied { // Remove fails for a folder that is not empty
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
	return atomicfile.Write(f.Path, t.data, atomicfile.Options{Mode: f.Mode, Force: f.Mode != 0, Follow: true})
}
