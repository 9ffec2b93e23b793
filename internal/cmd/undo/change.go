package undo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hermes/internal/checkpoint"
	"hermes/internal/order"
	"hermes/internal/undo"
)

// kindFile is the kind of changes in workspaces.
const kindFile = "file"

// change is a change of any kind that can be undone.
type change struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Kind   string    `json:"kind"` // file, memory, skill, learning, config, permission, trust
	What   string    `json:"what"`
	By     string    `json:"by,omitempty"`
	Folder string    `json:"folder,omitempty"` // of files
	Paths  []string  `json:"paths"`            // of files: in the folder
	Undone bool      `json:"undone,omitempty"`
	IsUndo bool      `json:"undo,omitempty"` // it undid another one
	Diff   string    `json:"diff,omitempty"` // of other changes than of files: what undoing it does, if it is planned

	journal undo.Change // of all kinds but files
}

// records are the two records of changes, joined.
type records struct {
	journal *undo.Journal
	files   *checkpoint.Store
	all     []change // newest first
	// damage says which part of the records cannot be read.
	damage error
}

func (n noun) records() (*records, error) {
	j, err := n.App().Changes()
	if err != nil {
		return nil, err
	}
	s, err := n.App().Checkpoints()
	if err != nil {
		return nil, err
	}
	r := &records{journal: j, files: s}
	made, err := j.List(time.Time{})
	if err != nil {
		return nil, err
	}
	edits, err := s.Edits()
	if err != nil {
		r.damage = fmt.Errorf("changes of files in some folders are not known: %w", err)
	}
	for _, c := range slices.Backward(made) {
		ch := change{ID: c.ID, Time: c.Time, Kind: c.Kind, What: c.What, By: c.Actor, Undone: c.Undone, IsUndo: c.Of != "", journal: c}
		for _, f := range c.Files {
			ch.Paths = append(ch.Paths, f.Path)
		}
		r.all = append(r.all, ch)
	}
	for _, e := range edits {
		r.all = append(r.all, change{ID: e.ID, Time: e.Time, Kind: kindFile, What: describe(e), By: e.By, Folder: e.Folder, Paths: e.Paths, Undone: e.Undone, IsUndo: e.IsUndo()})
	}
	// Both are in the order of their making, which the clock may not be.
	order.By(r.all, func(a, b change) int { return a.Time.Compare(b.Time) })
	slices.Reverse(r.all)
	return r, nil
}

// maxNamed is how many files the line of a change names.
const maxNamed = 3

// describe says in one line what was done to files.
func describe(e checkpoint.Edit) string {
	by := e.By
	if _, restored := strings.CutPrefix(by, "restore "); restored {
		by = "restore"
	}
	names := e.Paths[:min(len(e.Paths), maxNamed)]
	what := by + ": " + strings.Join(names, ", ")
	if more := len(e.Paths) - maxNamed; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return what + " in " + filepath.Base(e.Folder)
}

// choose returns the plan for the change with an id, for those since a time, or for the newest
// one. An undo is undone by its id only. Of files, what is as it was before counts as undone.
func (r *records) choose(ctx context.Context, id string, since time.Time) (*plan, error) {
	if id != "" {
		i := slices.IndexFunc(r.all, func(c change) bool { return c.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("there is no change %q; list them with `hermes undo list`", id)
		}
		return r.plan(ctx, r.all[i]), nil
	}
	var chosen []change
	for _, c := range r.all {
		if c.Undone || c.IsUndo {
			continue
		}
		if since.IsZero() {
			if p := r.plan(ctx, c); len(p.Changes) > 0 {
				return p, nil
			}
			continue
		}
		if c.Time.Before(since) {
			break
		}
		chosen = append(chosen, c)
	}
	return r.plan(ctx, chosen...), nil
}

// plan works out how changes are undone. Those of files of one folder are undone together.
func (r *records) plan(ctx context.Context, changes ...change) *plan {
	p := &plan{records: r, Changes: []change{}}
	ids := map[string][]string{}
	var folders []string
	for _, c := range changes {
		if c.Undone {
			continue
		}
		p.Changes = append(p.Changes, c)
		if c.Kind != kindFile {
			continue
		}
		if ids[c.Folder] == nil {
			folders = append(folders, c.Folder)
		}
		ids[c.Folder] = append(ids[c.Folder], c.ID)
	}
	for _, dir := range folders {
		made, err := r.files.PlanUndo(ctx, dir, ids[dir])
		f := &folder{Folder: dir, Steps: made.Steps, Kept: made.Yours, Conflicts: made.Conflicts, made: made}
		if err != nil {
			f.Error = err.Error()
		}
		p.Folders = append(p.Folders, f)
	}
	if p.empty() {
		p.Changes, p.Folders = []change{}, nil
	}
	return p
}

// errChanged says why a change is not undone.
func errChanged(err error) string {
	if errors.Is(err, checkpoint.ErrStale) {
		return "files changed since the preview: " + err.Error()
	}
	return err.Error()
}
