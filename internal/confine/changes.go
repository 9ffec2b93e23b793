package confine

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"hermes"
	"hermes/internal/sandbox"
	"hermes/internal/sandbox/gitguard"
)

// guard remembers what git and tools obey in the workspace, before a command. What was
// changed while nothing ran inside since the last command is the user's doing. Call it with the lock held.
func (w *Walls) guard() error {
	if w.guarding && (w.running > 0 || w.left || w.busy()) {
		return nil
	}
	var err error
	if w.guarding {
		w.before, err = w.before.Again()
	} else {
		w.before, err = gitguard.Take(w.config.Workspace)
	}
	w.guarding = err == nil
	return err
}

// busy reports whether processes of earlier commands may still run.
func (w *Walls) busy() bool {
	for _, at := range w.places {
		if !at.keeper.Empty() {
			return true
		}
	}
	return slices.ContainsFunc(w.old, func(at *place) bool { return !at.keeper.Empty() })
}

// changes looks at what a command changed of the files that git and the user's tools
// obey. Harmless settings stay; the rest is restored and reported. Call it with the lock
// held.
func (v *visit) changes() []hermes.Refusal {
	w := v.walls
	now, err := w.before.Again()
	if err != nil {
		return nil // the workspace is gone
	}
	if !slices.ContainsFunc(now.Compare(w.before), v.watched) {
		w.before = now
		return nil
	}
	// Nothing may change them again while they are looked at.
	thaw, err := v.freezeLocked()
	if err != nil {
		return []hermes.Refusal{{Kind: hermes.RefusedChange, Name: w.config.Workspace, Note: err.Error()}}
	}
	defer thaw()
	if now, err = w.before.Again(); err != nil {
		return nil
	}
	var out []hermes.Refusal
	var born []string                         // repositories that were not there before
	for _, c := range now.Compare(w.before) { // folders come before what is in them
		if c.Event == gitguard.NewRepository {
			born = append(born, c.Path)
		}
		if v.watched(c) && !ordinary(c, born) && !c.Usual() {
			out = append(out, v.judge(c)...)
		}
	}
	for _, at := range w.places { // they do not protect what is new
		at.stale = true
	}
	if again, err := now.Again(); err == nil {
		w.before = again
	}
	return out
}

// watched reports whether a change may be the command's. In layer A, what is mounted
// read-only can only have been changed by the user, unless a process runs in walls that
// are out of date: git replaces its settings by renaming, and the mount in other walls
// goes with the file that it was on.
func (v *visit) watched(c gitguard.Change) bool {
	if slices.ContainsFunc(v.write, func(g string) bool { return below(c.Path, g) }) {
		return false
	}
	p := v.place.plan.Policy
	return p.Layer != sandbox.A || v.walls.loose || v.walls.outdated() || !slices.ContainsFunc(p.Protected, func(path string) bool { return below(c.Path, path) })
}

// outdated reports whether processes run in walls that do not protect all that they
// should. Call it with the lock held.
func (w *Walls) outdated() bool {
	for _, at := range w.places {
		if at.stale && !at.keeper.Empty() {
			return true
		}
	}
	return slices.ContainsFunc(w.old, func(at *place) bool { return !at.keeper.Empty() })
}

func (v *visit) freezeLocked() (func(), error) {
	v.walls.mu.Unlock()
	defer v.walls.mu.Lock()
	return v.walls.freeze()
}

// judge keeps or restores one change.
func (v *visit) judge(c gitguard.Change) []hermes.Refusal {
	name := c.Path
	switch {
	case c.Event == gitguard.NewRepository:
		return []hermes.Refusal{{Kind: hermes.RefusedChange, Name: name, Note: "a new repository; its hooks and settings are protected from now on"}}
	case c.Class == gitguard.GitConfig:
		_, bad := c.Judge()
		if len(bad) == 0 {
			return nil
		}
		return []hermes.Refusal{v.restore(c, "git would run or obey "+keys(bad))}
	}
	return []hermes.Refusal{v.restore(c, "the user's own tools run or obey it")}
}

// ordinary reports whether something is what git itself puts into a new repository: its
// folders, and hooks that are examples and never run.
func ordinary(c gitguard.Change, born []string) bool {
	if c.Event != gitguard.Added || !slices.ContainsFunc(born, func(r string) bool { return below(c.Path, r) }) {
		return false
	}
	switch c.Class {
	case gitguard.GitFolder:
		return true
	case gitguard.GitHook:
		return strings.HasSuffix(c.Path, ".sample") || filepath.Base(c.Path) == "hooks"
	case gitguard.GitRemote:
		return filepath.Base(c.Path) == "branches" || filepath.Base(c.Path) == "remotes"
	}
	return false
}

func keys(list []gitguard.Key) string {
	var names []string
	for _, k := range list {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// restore puts back what was there.
func (v *visit) restore(c gitguard.Change, why string) hermes.Refusal {
	r := hermes.Refusal{Kind: hermes.RefusedChange, Name: c.Path}
	switch err := gitguard.Restore(c); {
	case err == nil && c.Event == gitguard.Added:
		r.Note = "removed again: " + why
	case err == nil:
		r.Note = "restored: " + why
	case errors.Is(err, gitguard.ErrKeep):
		r.Note = "NOT restored, tell the user: " + why
	default:
		r.Note = "could not be restored (" + err.Error() + "), tell the user: " + why
	}
	return r
}
