package patch

import (
	"errors"
	"fmt"
	"strings"
)

// A File is what a path of a patch leads to.
type File struct {
	// ID is the same for all paths that lead to one file, whatever links are on
	// the way. Name is the same for all that end in one entry of one folder. They
	// differ if the path is a symbolic link. Empty means the path itself.
	ID, Name string
	// Link says that the path is a symbolic link, also to nothing.
	Link   bool
	Text   string
	Exists bool
}

// A Change is the net effect of a patch on one file.
type Change struct {
	Path            string // the first name that the patch has for it
	Action          Action
	From            string // the path on disk that becomes this one, if Action is Move
	Before, After   string // content; "" where the file does not exist
	Existed, Exists bool
	// Link says that a symbolic link is deleted. The file behind it stays.
	Link bool

	source *Change // the file on disk that this one was moved from
}

// Whole reports whether the new text of a file that was there is not made from the old one: the patch
// deletes it first.
func (c Change) Whole() bool { return c.Existed && c.Exists && c.source == nil }

// An Outcome is what a patch does.
type Outcome struct {
	// Changes come in the order in which files are first named. A file that does
	// not change is left out.
	Changes []Change
	// Moves lists the files on disk that get another name, in an order in which
	// each can be renamed. They come before all writing and deleting. A file that
	// has the new name is deleted by the patch.
	Moves []Moved
	// Notes say what was skipped or placed in spite of a doubt, for the model.
	Notes []string
}

// Moved is a file that gets another name.
type Moved struct{ From, To string }

// Apply computes what the patch does, without doing it. read is called once per
// path. All sections are checked: if any does not apply, the error lists every
// failure and the outcome is empty.
func (p Patch) Apply(read func(path string) (File, error)) (Outcome, error) {
	v := &virtual{read: read, paths: map[string]File{}, files: map[string]*Change{}, gone: map[string]bool{}}
	var failed []error
	for _, s := range p.sections {
		if err := v.apply(s); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", s.action, s.path, err))
		}
	}
	var out Outcome
	if len(failed) == 0 {
		var err error
		if out, err = v.outcome(); err != nil {
			failed = append(failed, err)
		}
	}
	if len(failed) > 0 {
		return Outcome{}, fmt.Errorf("the patch does not apply, no file was changed:\n%w", errors.Join(failed...))
	}
	return out, nil
}

// virtual is the state of the files after the sections applied so far.
type virtual struct {
	read  func(string) (File, error)
	paths map[string]File
	files map[string]*Change // by ID
	gone  map[string]bool    // names of links that are deleted
	order []*Change
	notes []string
}

// open returns what a path leads to, and its state in the patch.
func (v *virtual) open(path string) (File, *Change, error) {
	f, known := v.paths[path]
	if !known {
		var err error
		if f, err = v.read(path); err != nil {
			return f, nil, err
		}
		if len(f.Text) > maxText {
			return f, nil, errTooBig
		}
		if f.ID == "" {
			f.ID, f.Name = path, path
		}
		v.paths[path] = f
	}
	if v.gone[f.Name] {
		return f, nil, errors.New("it was a symbolic link that was deleted earlier in this patch: use the name of the file, or a second patch")
	}
	c := v.files[f.ID]
	if c == nil {
		c = &Change{Path: path, Action: Update, Before: f.Text, After: f.Text, Existed: f.Exists, Exists: f.Exists}
		if !f.Exists {
			c.Action, c.Before, c.After = Add, "", ""
		} else {
			c.source = c
		}
		v.files[f.ID] = c
		v.order = append(v.order, c)
	}
	return f, c, nil
}

func (v *virtual) apply(s section) error {
	f, c, err := v.open(s.path)
	if err != nil {
		return err
	}
	if s.action == Add {
		if c.Exists {
			return errors.New("the file already exists: use *** Update File, or delete it in an earlier section")
		}
		c.After, c.Exists = s.text, true
		if c.Existed {
			c.Action = Update
		}
		return nil
	}
	if s.action == Delete && f.Link {
		v.unlink(s.path, f)
		return nil
	}
	if !c.Exists {
		return errors.New("file not found")
	}
	if s.action == Delete {
		c.After, c.Exists, c.Action, c.source = "", false, Delete, nil
		return nil
	}
	if s.action == Update {
		if err := v.update(s, c); err != nil {
			return err
		}
	}
	if s.to == "" {
		return nil
	}
	return v.move(f, c, s.to)
}

// update applies the hunks of a section.
func (v *virtual) update(s section, c *Change) error {
	after, notes, err := update(c.After, s.hunks)
	if err != nil {
		return err
	}
	c.After = after
	for _, n := range notes {
		v.notes = append(v.notes, s.path+": "+n)
	}
	return nil
}

// unlink deletes a symbolic link, not the file behind it.
func (v *virtual) unlink(path string, f File) {
	v.gone[f.Name] = true
	v.order = append(v.order, &Change{Path: path, Action: Delete, Existed: true, Link: true})
	v.notes = append(v.notes, path+": only the link was deleted, the file that it leads to stays")
}

func (v *virtual) move(f File, c *Change, to string) error {
	g, target, err := v.open(to)
	switch {
	case err != nil:
		return fmt.Errorf("cannot move to %s: %w", to, err)
	case f.Link:
		return errors.New("cannot move a symbolic link: move the file that it leads to, or use the terminal tool")
	case target == c && !g.Link && f.Name != g.Name && strings.EqualFold(f.Name, g.Name):
		c.From, c.Path, c.Action = c.Path, to, Move // only the case changes
		return nil
	case target == c:
		return fmt.Errorf("cannot move to %s: it is the same file", to)
	case g.Link:
		return fmt.Errorf("cannot move to %s: it is a symbolic link; choose another name, or delete the link in a patch before this one", to)
	case target.Exists:
		return fmt.Errorf("cannot move to %s: it already exists", to)
	}
	target.After, target.Exists, target.source = c.After, true, c.source
	c.After, c.Exists, c.Action, c.source = "", false, Delete, nil
	return nil
}

// outcome sums up what the sections did.
func (v *virtual) outcome() (Outcome, error) {
	out := Outcome{Notes: v.notes}
	for _, c := range v.order {
		switch {
		case c.Exists && c.source != nil && c.source != c:
			c.Action, c.From = Move, c.source.Path
		case c.From != "" && c.Exists: // only the case changes
		case c.Exists && c.Existed:
			c.Action = Update
		case c.Exists:
			c.Action = Add
		}
		if c.From == "" && c.Existed == c.Exists && c.Before == c.After {
			continue
		}
		out.Changes = append(out.Changes, *c)
	}
	return out, out.sortMoves()
}

// sortMoves finds an order for the moves: a name is free once its file has got
// another one.
func (o *Outcome) sortMoves() error {
	var left []Moved
	for _, c := range o.Changes {
		if c.Action == Move && c.Exists {
			left = append(left, Moved{c.From, c.Path})
		}
	}
	for len(left) > 0 {
		var blocked []Moved
		for i, m := range left {
			if occupied(append(blocked[:len(blocked):len(blocked)], left[i+1:]...), m.To) {
				blocked = append(blocked, m)
				continue
			}
			o.Moves = append(o.Moves, m)
		}
		if len(blocked) == len(left) {
			return fmt.Errorf("%s and %s swap their names, which one patch cannot do: use the terminal tool", left[0].From, left[0].To)
		}
		left = blocked
	}
	return nil
}

// occupied reports whether a file that is still to be moved has a name.
func occupied(moves []Moved, name string) bool {
	for _, m := range moves {
		if m.From == name {
			return true
		}
	}
	return false
}
