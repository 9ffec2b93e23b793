package undo

import (
	"context"
	"errors"
	"slices"

	"hermes/internal/checkpoint"
	"hermes/internal/undo"
)

// plan is what will be undone, and then what was.
type plan struct {
	Changes []change  `json:"changes"`           // newest first
	Folders []*folder `json:"folders,omitempty"` // what becomes of files
	Undone  int       `json:"undone"`            // changes
	Failed  []failure `json:"failed,omitempty"`

	records *records
	force   bool
}

// folder is what becomes of the files of one workspace.
type folder struct {
	Folder    string            `json:"folder"`
	Steps     []checkpoint.Step `json:"steps,omitempty"`
	Kept      []checkpoint.Kept `json:"kept,omitempty"`
	Conflicts []checkpoint.Kept `json:"conflicts,omitempty"`
	Error     string            `json:"error,omitempty"` // nothing can be undone there

	made checkpoint.Plan
	done bool
	bad  map[string]string // why paths were not undone
}

// failure is a change that was not undone, or not all of it.
type failure struct {
	ID   string `json:"id"`
	What string `json:"what"`
	Why  string `json:"why"`
}

// empty reports whether there is nothing to undo.
func (p *plan) empty() bool {
	if slices.ContainsFunc(p.Changes, func(c change) bool { return c.Kind != kindFile }) {
		return false
	}
	return !slices.ContainsFunc(p.Folders, func(f *folder) bool {
		return len(f.Steps)+len(f.Kept)+len(f.Conflicts) > 0 || f.Error != ""
	})
}

// able counts what can be undone.
func (p *plan) able() int {
	n := 0
	for _, c := range p.Changes {
		if c.Kind != kindFile {
			n++
		}
	}
	for _, f := range p.Folders {
		n += len(f.Steps)
	}
	return n
}

// describe adds the diffs of what is not in workspaces.
func (p *plan) describe() error {
	var list []undo.Change
	var of []*change
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Kind != kindFile {
			list, of = append(list, c.journal), append(of, c)
		}
	}
	texts, err := p.records.journal.Preview(list)
	if err != nil {
		return err
	}
	for i, c := range of {
		c.Diff = texts[i]
	}
	return nil
}

// undo undoes a change of the journal if that still does what was shown, and else says why not.
func (p *plan) undo(ctx context.Context, c change) (why string) {
	list := []undo.Change{c.journal}
	now, err := p.records.journal.Preview(list)
	if err == nil && now[0] != c.Diff {
		err = errors.New("it would do something else now than was shown; undo it again")
	}
	if err == nil {
		_, err = p.records.journal.Undo(ctx, list, "person", p.force)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// run undoes all changes, newest first, and goes on where one fails. done is called for each
// that was undone.
func (p *plan) run(ctx context.Context, done func(change)) {
	for _, c := range p.Changes {
		why, changed := "", true
		if c.Kind == kindFile {
			i := slices.IndexFunc(p.Folders, func(f *folder) bool { return f.Folder == c.Folder })
			why, changed = p.Folders[i].undo(ctx, p.records.files, c)
		} else {
			why = p.undo(ctx, c)
		}
		if why != "" {
			p.Failed = append(p.Failed, failure{c.ID, c.What, why})
			continue
		}
		if changed {
			p.Undone++
			done(c)
		}
	}
}

// undo applies the plan of the folder, once, and says why a change of it was not undone whole,
// and whether any path of it changed: none did if others undid it already.
func (f *folder) undo(ctx context.Context, s *checkpoint.Store, c change) (why string, changed bool) {
	if !f.done {
		f.done = true
		f.apply(ctx, s)
	}
	if f.Error != "" {
		return f.Error, false
	}
	for _, path := range c.Paths {
		if bad := f.bad[path]; bad != "" {
			return path + ": " + bad, false
		}
		changed = changed || slices.ContainsFunc(f.Steps, func(st checkpoint.Step) bool { return st.Path == path })
	}
	for _, k := range f.Kept {
		if !changed && slices.Contains(c.Paths, k.Path) {
			return k.Path + ": " + k.Why, false
		}
	}
	return "", changed
}

func (f *folder) apply(ctx context.Context, s *checkpoint.Store) {
	f.bad = map[string]string{}
	for _, k := range f.Conflicts {
		f.bad[k.Path] = k.Why
	}
	if f.Error != "" || len(f.Steps) == 0 {
		return
	}
	did, err := s.Restore(ctx, f.made, checkpoint.Meta{Reason: "before hermes undo"})
	if err != nil {
		f.Error = errChanged(err)
		return
	}
	for _, k := range did.Failed {
		f.bad[k.Path] = k.Why
	}
}
