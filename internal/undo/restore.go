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

// Preview tells, as a diff for each, what taking changes back would do, in the
// order of Undo. Where a file was changed since, it says so, and shows what
// would go with it.
func (j *Journal) Preview(changes []Change) ([]string, error) {
	var out []string
	holds := map[string][]byte{} // by path, once an earlier one is taken back
	for _, c := range changes {
		var b strings.Builder
		for _, f := range c.Files {
			old, ok := holds[f.Path]
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
			holds[f.Path] = t.data
			if t.lost {
				fmt.Fprintf(&b, "%s was changed since; with --force that goes, too:\n", f.Path)
			}
			if !utf8.Valid(old) || !utf8.Valid(t.data) {
				fmt.Fprintf(&b, "%s: %d bytes become %d\n", f.Path, len(old), len(t.data))
				continue
			}
			to := f.Path
			if t.gone {
				to = os.DevNull
			}
			b.WriteString(patch.Unified(nameOf(f.Path, hashHeld(old)), to, string(old), string(t.data)))
		}
		out = append(out, b.String())
	}
	return out, nil
}

// target is what a file becomes when a change is taken back.
type target struct {
	data []byte
	gone bool // the file goes
	lost bool // what was done to it since is lost
}

// target works out what becomes of a file that holds now. Entries of memory
// stand for themselves, so one is taken back under later ones; a part of a
// skill or of the settings may mean nothing without what came after.
func (j *Journal) target(c Change, f File, now []byte) (target, error) {
	before, err := j.content(f.Before)
	if err != nil {
		return target{}, err
	}
	t := target{data: before, gone: f.Before == ""}
	if hash := hashHeld(now); hash == f.After || hash == f.Before {
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

// hashHeld is the hash of a content as records have it: none for a file that
// is not there.
func hashHeld(data []byte) string {
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
	targets := make([]target, len(c.Files))
	back := Change{ID: j.newID(), Time: j.now(), Note: Note{Kind: c.Kind, Actor: actor, What: "undo: " + c.What}, Of: c.ID}
	for i, f := range c.Files {
		if _, ok := j.source(f.Path); !ok && !filepath.IsAbs(f.Path) {
			return fmt.Errorf("%s is no file, and what keeps it is not at hand", f.Path)
		}
		now, err := j.read(f.Path)
		if err != nil && !force {
			return err
		}
		if targets[i], err = j.target(c, f, now); err != nil {
			return err
		}
		if targets[i].lost && !force {
			return fmt.Errorf("%s: %w; look at it first, or add --force", f.Path, ErrChanged)
		}
		made := File{Path: f.Path, Before: j.hashNow(f.Path), After: f.Before, Mode: f.Mode}
		if t := targets[i]; !t.gone {
			made.After = hashOf(t.data)
		}
		back.Files = append(back.Files, made)
	}
	if _, err := j.keep(paths(c.Files)); err != nil { // what this overwrites can be had back
		return err
	}
	for i, f := range c.Files {
		if !targets[i].gone {
			if err := j.putBlob(hashOf(targets[i].data), targets[i].data); err != nil {
				return err
			}
		}
		if err := j.put(f, targets[i]); err != nil {
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
func (j *Journal) put(f File, t target) error {
	if s, ok := j.source(f.Path); ok {
		return s.Write(f.Path, t.data)
	}
	if t.gone {
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
	return atomicfile.Write(f.Path, t.data, atomicfile.Options{Mode: f.Mode, Force: f.Mode != 0, Follow: true})
}
