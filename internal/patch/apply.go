package patch

import (
	"errors"
	"fmt"
)

// A Change is the net effect of a patch on one path.
type Change struct {
	Path            string
	Action          Action
	From            string // the old path, if Action is Move
	Before, After   string // content; "" where the file does not exist
	Existed, Exists bool
}

// An Outcome is what a patch does.
type Outcome struct {
	// Changes come in the order in which paths are first named. A path whose
	// content does not change is left out.
	Changes []Change
	// Notes say what was skipped or placed in spite of a doubt, for the model.
	Notes []string
}

// Apply computes what the patch does, without doing it. read returns a file's
// content, or exists false; it is called at most once per path. All sections
// are checked: if any does not apply, the error lists every failure and the
// outcome is empty.
func (p Patch) Apply(read func(path string) (content string, exists bool, err error)) (Outcome, error) {
	v := &virtual{read: read, files: map[string]*Change{}}
	var failed []error
	for _, s := range p.sections {
		if err := v.apply(s); err != nil {
			failed = append(failed, fmt.Errorf("%s %s: %w", s.action, s.path, err))
		}
	}
	if len(failed) > 0 {
		return Outcome{}, fmt.Errorf("the patch does not apply, no file was changed:\n%w", errors.Join(failed...))
	}
	var changes []Change
	for _, path := range v.order {
		c := *v.files[path]
		if c.Existed == c.Exists && c.Before == c.After {
			continue
		}
		changes = append(changes, c)
	}
	return Outcome{changes, v.notes}, nil
}

// virtual is the state of the files after the sections applied so far.
type virtual struct {
	read  func(string) (string, bool, error)
	files map[string]*Change
	order []string
	notes []string
}

func (v *virtual) file(path string) (*Change, error) {
	if c := v.files[path]; c != nil {
		return c, nil
	}
	content, exists, err := v.read(path)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, Action: Update, Before: content, After: content, Existed: exists, Exists: exists}
	if !exists {
		c.Action, c.Before, c.After = Add, "", ""
	}
	v.files[path] = c
	v.order = append(v.order, path)
	return c, nil
}

func (v *virtual) apply(s section) error {
	c, err := v.file(s.path)
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
	if !c.Exists {
		return errors.New("file not found")
	}
	switch s.action {
	case Delete:
		c.After, c.Exists, c.Action = "", false, Delete
		return nil
	case Update:
		after, notes, err := update(c.After, s.hunks)
		if err != nil {
			return err
		}
		c.After = after
		for _, n := range notes {
			v.notes = append(v.notes, s.path+": "+n)
		}
	}
	if s.to == "" {
		return nil
	}
	return v.move(c, s.to)
}

func (v *virtual) move(c *Change, to string) error {
	target, err := v.file(to)
	if err != nil {
		return err
	}
	if target.Exists {
		return fmt.Errorf("cannot move to %s: it already exists", to)
	}
	target.After, target.Exists, target.Action, target.From = c.After, true, Move, c.Path
	c.After, c.Exists, c.Action = "", false, Delete
	return nil
}
